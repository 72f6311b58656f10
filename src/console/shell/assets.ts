import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Router } from 'express';
import { strictRouter } from '../../http/strict-router.ts';
import { CHART_SCRIPT } from './chart.ts';
import { SCRIPT } from './script.ts';
import { STYLE } from './style.ts';

const { resolve } = createRequire(import.meta.url);
const SHOWN_LENGTH = 12;
/** An asset never changes under its address. */
const CACHING = 'public, max-age=31536000, immutable';

const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="#0a6b4f"/><path d="M4 12V4l4 5 4-5v8" fill="none" stroke="#fff" stroke-width="2"/></svg>';

/** What pages load besides themselves, each at an address that has the version of its content. */
export const ASSETS = {
  htmx: asset('htmx.js', packaged('htmx.org/dist/htmx.min.js')),
  style: asset('style.css', STYLE),
  script: asset('script.js', SCRIPT),
  plot: asset('plot.js', packaged('uplot/dist/uPlot.iife.min.js')),
  plotStyle: asset('plot.css', packaged('uplot/dist/uPlot.min.css')),
  chart: asset('chart.js', CHART_SCRIPT),
  icon: asset('icon.svg', ICON),
};

/** Serves the assets. They come from our own files and packages, and nothing from elsewhere. */
export function assetRoutes(): Router {
  const router = strictRouter();
  for (const { path, name, content } of Object.values(ASSETS)) {
    router.get(path, (_req, res) => {
      res.set('Cache-Control', CACHING).type(name.split('.')[1]!).send(content);
    });
  }
  return router;
}

function asset(name: string, content: string) {
  const version = createHash('sha256').update(content).digest('hex').slice(0, SHOWN_LENGTH);
  return { name, content, path: `/assets/${version}/${name}` };
}

function packaged(file: string): string {
  return readFileSync(resolve(file), 'utf8');
}
