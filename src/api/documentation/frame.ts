import { html, raw } from './html.ts';

/** A page of the documentation. */
export interface Page {
  title: string;
  /** The link of the bar that leads here. */
  current: 'Reference' | 'Guides';
  body: string;
}

const LINKS = { Reference: '/docs', Guides: '/docs/guides' } as const;

/** Puts a page into the frame that all have: the head, and a bar with links. */
export function framed({ title, current, body }: Page): string {
  const links = Object.entries(LINKS).map(([name, path]) =>
    name === current
      ? html`<a href="${path}" aria-current="page">${name}</a>`
      : html`<a href="${path}">${name}</a>`,
  );
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="/docs/icon.svg"><link rel="stylesheet" href="/docs/style.css"></head>
<body><header class="bar"><a class="name" href="/docs">Malipo</a><nav aria-label="Documentation">${raw(links.join(''))}</nav></header>
${raw(body)}
</body></html>`;
}

/** The icon of the pages: an M on a green ground. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="6" fill="#0a7a4f"/><path d="M8 23V9l8 9 8-9v14" fill="none" stroke="#fff" stroke-width="3"/></svg>`;
