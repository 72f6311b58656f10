import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { RequestHandler, Router } from 'express';
import { strictRouter } from '../../http/strict-router.ts';
import { refuseOtherMethods } from '../middleware/methods.ts';
import { scalarScript, scalarVersion } from './assets.ts';
import { ICON } from './frame.ts';
import { guidePage, readGuides } from './guides.ts';
import { MEND_SCRIPT } from './mend.ts';
import { openApiDocument } from './openapi.ts';
import { GUIDE_POLICY, REFERENCE_POLICY } from './policies.ts';
import { referencePage } from './reference.ts';
import { STYLE } from './style.ts';

/**
 * Serves `/openapi.json` for programs, and the reference and the guides for people, and leads there
 * from `/`. All is made once, at the start.
 */
export function documentationRoutes(publicUrl: string): Router {
  const scriptPath = `/docs/scalar-${scalarVersion()}.js`;
  const guides = readGuides();
  const served: Record<string, RequestHandler> = {
    '/': redirect('/docs'),
    '/openapi.json': send('json', JSON.stringify(openApiDocument(publicUrl))),
    '/docs': sendPage(referencePage(scriptPath), REFERENCE_POLICY),
    '/docs/mend.js': send('js', MEND_SCRIPT),
    '/docs/style.css': send('css', STYLE),
    '/docs/icon.svg': send('svg', ICON),
    [scriptPath]: sendScript(scalarScript()),
    '/docs/guides': redirect(`/docs/guides/${guides[0]!.name}`),
  };
  for (const guide of guides) {
    served[`/docs/guides/${guide.name}`] = sendPage(guidePage(guide, guides), GUIDE_POLICY);
  }
  const router = strictRouter();
  for (const [path, handler] of Object.entries(served)) router.get(path, handler);
  refuseOtherMethods(
    router,
    Object.keys(served).map((path) => ({ method: 'get', path })),
  );
  return router;
}

function redirect(path: string): RequestHandler {
  return (_req, res) => {
    res.redirect(path);
  };
}

function send(type: string, text: string): RequestHandler {
  return (_req, res) => {
    res.type(type).send(text);
  };
}

function sendPage(page: string, policy: string): RequestHandler {
  return (_req, res) => {
    res.set('Content-Security-Policy', policy).type('html').send(page);
  };
}

const compress = promisify(gzip);

/** Sends a large script, compressed for whoever takes that. Its path has its version, so it never changes. */
function sendScript(script: Buffer): RequestHandler {
  let compressed: Promise<Buffer> | undefined;
  return async (req, res) => {
    res
      .type('js')
      .set('Cache-Control', 'public, max-age=31536000, immutable')
      .vary('Accept-Encoding');
    if (req.acceptsEncodings('gzip') !== 'gzip') return void res.send(script);
    compressed ??= compress(script);
    res.set('Content-Encoding', 'gzip').send(await compressed);
  };
}
