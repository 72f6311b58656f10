import type { Router } from 'express';
import { strictRouter } from '../../http/strict-router.ts';
import { refuseOtherMethods } from '../middleware/methods.ts';
import { openApiDocument } from './openapi.ts';
import { renderPage } from './page.ts';
import { STYLE } from './style.ts';

/**
 * Serves `/openapi.json` for programs and `/docs` for people, and leads there from `/`. Both are
 * made once, at the start.
 */
export function documentationRoutes(publicUrl: string): Router {
  const document = openApiDocument(publicUrl);
  const page = renderPage(document);
  const router = strictRouter();
  router.get('/', (_req, res) => {
    res.redirect('/docs');
  });
  router.get('/openapi.json', (_req, res) => {
    res.json(document);
  });
  router.get('/docs', (_req, res) => {
    res.type('html').send(page);
  });
  router.get('/docs/style.css', (_req, res) => {
    res.type('css').send(STYLE);
  });
  const paths = ['/', '/openapi.json', '/docs', '/docs/style.css'];
  refuseOtherMethods(
    router,
    paths.map((path) => ({ method: 'get', path })),
  );
  return router;
}
