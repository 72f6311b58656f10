import { readFileSync } from 'node:fs';
import { BASE_PATH } from '../context.ts';

/*
 * Scalar draws the reference in the browser. Its script is one file. Scalar's package for Fastify
 * contains this file without the 270 packages from which the file is made. We install the package
 * for development only: the build copies the file into `dist`, under the same path, and Node never
 * runs it.
 */
const SCALAR = 'node_modules/@scalar/fastify-api-reference';
const SCALAR_PACKAGE = `${SCALAR}/package.json`;
const SCALAR_LICENSE = `${SCALAR}/LICENSE`;
const SCALAR_SCRIPT = `${SCALAR}/dist/js/standalone.js`;
const GUIDES = 'docs/guides';

/** The folder of the source, or of the build. */
const ROOT = new URL('../../../', import.meta.url);

/** The files that the documentation serves. The build copies them. */
export const ASSETS: readonly string[] = [SCALAR_PACKAGE, SCALAR_LICENSE, SCALAR_SCRIPT, GUIDES];

/** The folder with the guides in Markdown. */
export const GUIDES_FOLDER = new URL(`${GUIDES}/`, ROOT);

/** Returns the version of Scalar. */
export function scalarVersion(): string {
  return JSON.parse(readFileSync(new URL(SCALAR_PACKAGE, ROOT), 'utf8')).version;
}

/** Returns Scalar's script. */
export function scalarScript(): Buffer {
  return readFileSync(new URL(SCALAR_SCRIPT, ROOT));
}

/**
 * Content policies of the documentation's pages. All other answers have the app's stricter policy.
 */

const NOTHING_ELSE = [
  "default-src 'none'",
  "base-uri 'none'",
  // The search of the bar.
  "form-action 'self'",
  "frame-ancestors 'none'",
];

/** A guide loads our style sheet, our script and our icon. */
export const GUIDE_POLICY = [
  ...NOTHING_ELSE,
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
].join('; ');

/**
 * Scalar's script makes style elements in the browser, also for its editor. It cannot give them a
 * nonce or a hash, so this policy allows inline styles. The script evaluates no text as code. Its
 * icons are `data:` addresses. Requests go to this server only, so the page loads no font from
 * elsewhere, and reaches no proxy and no counter of visitors.
 */
export const REFERENCE_POLICY = [
  ...NOTHING_ELSE,
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
].join('; ');

/** A page of a link by e-mail runs our script, which calls the API. */
export const SET_UP_POLICY = `${GUIDE_POLICY}; connect-src 'self'`;

/** A page of the documentation. */
export interface Page {
  title: string;
  /** The bar's link to this page, or to the section of this page. Left out: none. */
  current?: 'Reference' | 'Guides';
  /** The words that were searched for. */
  asked?: string;
  body: string;
}

const LINKS = { Reference: '/docs', Guides: '/docs/guides' } as const;

/** Puts a page into the frame that all pages have: the head, and a bar with links. */
export function framed({ title, current, asked = '', body }: Page): string {
  const links = Object.entries(LINKS).map(([name, path]) =>
    name === current
      ? html`<a href="${path}" aria-current="page">${name}</a>`
      : html`<a href="${path}">${name}</a>`,
  );
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="/docs/icon.svg"><link rel="stylesheet" href="/docs/style.css"></head>
<body><header class="bar"><a class="name" href="/docs">Malipo</a><nav aria-label="Documentation">${raw(links.join(''))}</nav>
<form role="search" action="/docs/search"><input type="search" name="q" value="${asked}" aria-label="Search the documentation" placeholder="Search" maxlength="100"></form></header>
${raw(body)}
</body></html>`;
}

/** The icon of the pages: an M on a green ground. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="6" fill="#0a7a4f"/><path d="M8 23V9l8 9 8-9v14" fill="none" stroke="#fff" stroke-width="3"/></svg>`;

/** Text that is HTML already. */
class Raw {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Marks a text as HTML. */
export function raw(text: string): Raw {
  return new Raw(text);
}

/** A template whose values are escaped, unless they are HTML already. */
export function html(parts: TemplateStringsArray, ...values: (string | Raw)[]): string {
  return parts.reduce((text, part, index) => {
    const value = values[index - 1]!;
    return text + (value instanceof Raw ? value.text : escapeHtml(value)) + part;
  });
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}

/** Scalar's settings. Scalar shows only our samples, and sends requests only to this server. */
const CONFIGURATION = {
  url: '/openapi.json',
  // A path without a host: requests go to the address from which the reader got the page.
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

/**
 * A script that mends faults of Scalar for people with a screen reader or without a mouse: parts of
 * the sidebar that claim to be selected options, buttons without the name that they show, and lists
 * that the keyboard cannot scroll. Scalar may draw these parts again, so the script watches the
 * page.
 */
export const MEND_SCRIPT = `
const MENDS = [
  ['button[aria-selected]:not([role])', (button) => {
    button.toggleAttribute('aria-current', button.getAttribute('aria-selected') === 'true');
    button.removeAttribute('aria-selected');
  }],
  ['button[role=search]', (button) => button.removeAttribute('role')],
  ['.sidebar-search-placeholder[aria-hidden]', (name) => name.removeAttribute('aria-hidden')],
  ['button:is(.code-copy, [class*=copy-button]):not([aria-label])', (button) => button.setAttribute('aria-label', 'Copy')],
  ['button.show-more[aria-label]', (button) => button.removeAttribute('aria-label')],
  ['ul.endpoints:not([tabindex])', (list) => list.setAttribute('tabindex', '0')],
];
function mend() {
  for (const [selector, change] of MENDS) document.querySelectorAll(selector).forEach(change);
}
new MutationObserver(mend).observe(document.body, { subtree: true, childList: true, attributes: true });
`;
