import { BASE_PATH } from '../base-path.ts';
import { framed } from './frame.ts';
import { html } from './html.ts';

/** Scalar's settings. It shows our samples only, and asks nobody but this server. */
const CONFIGURATION = {
  url: '/openapi.json',
  // This very server, whatever the address that the reader came by.
  servers: [{ url: BASE_PATH }],
  authentication: { preferredSecurityScheme: 'token' },
  orderSchemaPropertiesBy: 'preserve',
  orderRequiredPropertiesFirst: false,
  defaultOpenFirstTag: false,
  documentDownloadType: 'json',
  hiddenClients: true,
  hideClientButton: true,
  hideDarkModeToggle: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
  withDefaultFonts: false,
  telemetry: false,
};

/** Returns the page of the reference, which Scalar's script draws from `/openapi.json`. */
export function referencePage(scriptPath: string): string {
  return framed({
    title: 'Malipo API',
    current: 'Reference',
    body: html`<noscript><p class="notice">The reference needs JavaScript. Programs read <a href="/openapi.json">openapi.json</a>.</p></noscript>
<script id="api-reference" type="application/json" data-configuration="${JSON.stringify(CONFIGURATION)}"></script>
<script src="${scriptPath}"></script><script src="/docs/mend.js"></script>`,
  });
}
