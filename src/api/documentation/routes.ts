import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { RequestHandler, Router } from 'express';
import { strictRouter } from '../../http/http-server.ts';
import { refuseOtherMethods } from '../middleware/requests.ts';
import { GUIDE_SCRIPT, guideNames, guidePage, noPage, readGuides } from './guides.ts';
import { openApiDocument } from './openapi.ts';
import {
  GUIDE_POLICY,
  ICON,
  MEND_SCRIPT,
  REFERENCE_POLICY,
  referencePage,
  SET_UP_POLICY,
  scalarScript,
  scalarVersion,
} from './pages.ts';
import { createSearch } from './search.ts';
import { SET_UP_FORMS, SET_UP_SCRIPT, setUpPage } from './set-up-pages.ts';
import { STYLE } from './style.ts';

/**
 * Serves `/openapi.json` for programs, and the reference, the guides and the pages of links by e-mail
 * for people, and leads to the reference from `/`. Each text is made when it is first asked for, and kept.
 */
export function documentationRoutes(publicUrl: string): Router {
  const scriptPath = `/docs/scalar-${scalarVersion()}.js`;
  const guides = keep(readGuides);
  const search = keep(() => createSearch(guides()));
  const served: Record<string, RequestHandler> = {
    '/': redirect('/docs'),
    '/openapi.json': send('json', () => JSON.stringify(openApiDocument(publicUrl))),
    '/docs': sendPage(() => referencePage(scriptPath), REFERENCE_POLICY),
    '/docs/search': (req, res) => {
      const { q } = req.query;
      res.set({ 'Content-Security-Policy': GUIDE_POLICY, 'Cache-Control': 'no-cache' });
      res.type('html').send(search()(typeof q === 'string' ? q : ''));
    },
    '/docs/mend.js': send('js', () => MEND_SCRIPT),
    '/docs/guide.js': send('js', () => GUIDE_SCRIPT),
    '/docs/style.css': send('css', () => STYLE),
    '/docs/icon.svg': send('svg', () => ICON),
    [scriptPath]: send('js', scalarScript, { 'Cache-Control': FOR_EVER }),
    '/set-up/set-up.js': send('js', () => SET_UP_SCRIPT),
    '/docs/guides': (_req, res) => res.redirect(`/docs/guides/${guides()[0]!.name}`),
  };
  for (const name of guideNames()) {
    const page = () => guidePage(guides().find((guide) => guide.name === name)!, guides());
    served[`/docs/guides/${name}`] = sendPage(page, GUIDE_POLICY);
  }
  for (const [part, form] of Object.entries(SET_UP_FORMS)) {
    served[`/set-up/${part}`] = sendPage(() => setUpPage(form), SET_UP_POLICY);
  }
  const router = strictRouter();
  for (const [path, handler] of Object.entries(served)) router.get(path, handler);
  refuseOtherMethods(
    router,
    Object.keys(served).map((path) => ({ method: 'get', path })),
  );
  const missing = sendPage(() => noPage(guides()), GUIDE_POLICY);
  router.get('/docs/{*rest}', (req, res, next) => missing(req, res.status(404), next));
  return router;
}

/** Returns a function that makes a value at its first call, and gives the same at later calls. */
function keep<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function redirect(path: string): RequestHandler {
  return (_req, res) => res.redirect(path);
}

/** For an address that has the version of what it leads to. */
const FOR_EVER = 'public, max-age=31536000, immutable';

const compress = promisify(gzip);

/**
 * Sends a text, compressed if the caller accepts it. A caller that has it asks whether it is the same, by its ETag.
 * @param headers are further ones, or others
 */
function send(
  type: string,
  make: () => string | Buffer,
  headers: Record<string, string> = {},
): RequestHandler {
  const text = keep(() => {
    const body = Buffer.from(make());
    const hash = createHash('sha256').update(body).digest('base64url');
    // Weak, since both forms have it.
    return { body, ETag: `W/"${hash}"`, packed: keep(() => compress(body)) };
  });
  return async (req, res) => {
    const { body, ETag, packed } = text();
    const all = { ETag, 'Cache-Control': 'no-cache', ...headers };
    res.type(type).set(all).vary('Accept-Encoding');
    // An answer that has not changed has no body: its caller may have either form.
    if (req.fresh || req.acceptsEncodings('gzip') !== 'gzip') return void res.send(body);
    res.set('Content-Encoding', 'gzip').send(await packed());
  };
}

function sendPage(make: () => string, policy: string): RequestHandler {
  return send('html', make, { 'Content-Security-Policy': policy });
}
