import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { RequestHandler, Router } from 'express';
import { Marked, type Tokens } from 'marked';
import { strictRouter } from '../../http/http-server.ts';
import { refuseOtherMethods } from '../middleware/requests.ts';
import { openApiDocument } from './openapi.ts';
import {
  framed,
  GUIDE_POLICY,
  GUIDES_FOLDER,
  html,
  ICON,
  MEND_SCRIPT,
  REFERENCE_POLICY,
  raw,
  referencePage,
  SET_UP_POLICY,
  scalarScript,
  scalarVersion,
} from './pages.ts';
import { SET_UP_FORMS, SET_UP_SCRIPT, setUpPage } from './set-up-pages.ts';

/**
 * Serves `/openapi.json` for programs, and the reference, the guides and the pages of links by e-mail
 * for people, and leads to the reference from `/`. Each text is made when it is first asked for, and kept.
 */
export function documentationRoutes(publicUrl: string): Router {
  const scriptPath = `/docs/scalar-${scalarVersion()}.js`;
  const guides = keep(readGuides);
  const served: Record<string, RequestHandler> = {
    '/': redirect('/docs'),
    '/openapi.json': send('json', () => JSON.stringify(openApiDocument(publicUrl))),
    '/docs': sendPage(() => referencePage(scriptPath), REFERENCE_POLICY),
    '/docs/mend.js': send('js', () => MEND_SCRIPT),
    '/docs/style.css': send('css', () => STYLE),
    '/docs/icon.svg': send('svg', () => ICON),
    [scriptPath]: sendScript(keep(scalarScript)),
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

function send(type: string, make: () => string): RequestHandler {
  const text = keep(make);
  return (_req, res) => {
    res.type(type).send(text());
  };
}

function sendPage(make: () => string, policy: string): RequestHandler {
  const page = keep(make);
  return (_req, res) => {
    res.set('Content-Security-Policy', policy).type('html').send(page());
  };
}

const compress = promisify(gzip);

/** Sends a large script, compressed if the caller accepts it. Its path has its version, so it never changes. */
function sendScript(script: () => Buffer): RequestHandler {
  const compressed = keep(() => compress(script()));
  return async (req, res) => {
    res
      .type('js')
      .set('Cache-Control', 'public, max-age=31536000, immutable')
      .vary('Accept-Encoding');
    if (req.acceptsEncodings('gzip') !== 'gzip') return void res.send(script());
    res.set('Content-Encoding', 'gzip').send(await compressed());
  };
}

/** A guide: a file of `docs/guides`, which begins with its title. */
export interface Guide {
  /** The name of the file, without its extension. */
  name: string;
  title: string;
  markdown: string;
}

/** The order in which they are listed. Others follow by their titles. */
const ORDER = [
  ...['first-payment', 'take-a-payment', 'pay-out', 'give-back'],
  ...['verify-a-webhook', 'webhooks', 'errors', 'test-numbers', 'go-live', 'versions'],
];

/**
 * Reads all guides.
 * @throws Error when one does not begin with a title.
 */
export function readGuides(): Guide[] {
  return guideNames()
    .map(readGuide)
    .sort((a, b) => placeOf(a) - placeOf(b) || a.title.localeCompare(b.title));
}

function guideNames(): string[] {
  const files = readdirSync(GUIDES_FOLDER).filter((file) => file.endsWith('.md'));
  return files.map((file) => file.slice(0, -'.md'.length));
}

function placeOf({ name }: Guide): number {
  const place = ORDER.indexOf(name);
  return place < 0 ? ORDER.length : place;
}

function readGuide(name: string): Guide {
  const markdown = readFileSync(new URL(`${name}.md`, GUIDES_FOLDER), 'utf8');
  const title = /^# (.+)\n/.exec(markdown)?.[1];
  if (!title) throw new Error(`docs/guides/${name}.md does not begin with a title`);
  return { name, title, markdown };
}

/** Returns the page of a guide, with links to all of them. */
function guidePage({ name, title, markdown }: Guide, guides: readonly Guide[]): string {
  const links = guides.map((guide) => {
    const path = `/docs/guides/${guide.name}`;
    return guide.name === name
      ? html`<li><a href="${path}" aria-current="page">${guide.title}</a></li>`
      : html`<li><a href="${path}">${guide.title}</a></li>`;
  });
  return framed({
    title: `${title} – Malipo`,
    current: 'Guides',
    body: html`<div class="guide"><nav aria-label="Guides"><ul>${raw(links.join(''))}</ul></nav>
<main>${raw(renderMarkdown(markdown))}</main></div>`,
  });
}

/** Makes HTML of the Markdown of our own files, which is trusted. */
function renderMarkdown(markdown: string): string {
  const body = marked.parse(markdown, { async: false });
  // A table that is too wide scrolls in a box of its own, also with the keys.
  return body
    .replaceAll('<table>', '<div class="table" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>');
}

const marked = new Marked({
  renderer: {
    // So that a link can lead to it.
    heading({ tokens, depth, text }: Tokens.Heading): string {
      return `<h${depth} id="${idOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    // The keyboard must be able to scroll it.
    code({ text }: Tokens.Code): string {
      return html`<pre tabindex="0"><code>${text}</code></pre>\n`;
    },
    // Links to the files of other guides, as they work in a checkout too.
    link({ href, tokens }: Tokens.Link): string {
      const address = href.replace(/^([\w-]+)\.md(?=$|#)/, '/docs/guides/$1');
      return html`<a href="${address}">${raw(this.parser.parseInline(tokens))}</a>`;
    },
  },
});

/** The id of a heading, in the way in which forges make it. */
function idOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}

/** The style sheet of the pages' frame and of the guides. It has the colours of the reference. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #fff; --soft: #f6f6f6; --line: #e0e0e0; --text: #1b1b1b; --dim: #595959; --link: #0069a8;
  --bar: 48px; --scalar-custom-header-height: var(--bar);
}
@media (prefers-color-scheme: dark) {
  :root { --ground: #0f0f0f; --soft: #1a1a1a; --line: #2d2d2d; --text: #e7e7e7; --dim: #a4a4a4; --link: #6cc0ff; }
}
/* Scalar's greys and colours, with enough contrast. */
.light-mode { --scalar-color-2: #595959; --scalar-color-3: #666; --scalar-color-green: #00734a; --scalar-color-orange: #a84300; --scalar-color-blue: #0069a8; --scalar-color-red: #c00; }
.dark-mode { --scalar-color-2: #a4a4a4; --scalar-color-3: #949494; --scalar-color-red: #ff7070; }
body { margin: 0; background: var(--ground); color: var(--text); font: 16px/1.6 Inter, -apple-system, BlinkMacSystemFont, 'Segoe UI', Roboto, Ubuntu, 'Helvetica Neue', Arial, sans-serif; }
.bar { position: sticky; top: 0; z-index: 100; box-sizing: border-box; height: var(--bar); padding: 0 24px; display: flex; align-items: center; gap: 32px; background: var(--ground); border-bottom: 1px solid var(--line); }
.bar nav { display: flex; gap: 20px; }
.bar a { color: var(--dim); text-decoration: none; font-size: 15px; line-height: var(--bar); }
.bar a.name { color: var(--text); font-weight: 700; font-size: 16px; }
.bar a:hover, .bar a[aria-current] { color: var(--text); }
.bar a[aria-current] { box-shadow: inset 0 -2px var(--text); }
.notice { padding: 24px; }
.guide { display: grid; grid-template-columns: 288px minmax(0, 1fr); }
.guide > nav { position: sticky; top: var(--bar); box-sizing: border-box; height: calc(100vh - var(--bar)); overflow: auto; padding: 16px 12px; border-right: 1px solid var(--line); font-size: 14px; }
.guide > nav ul { list-style: none; margin: 0; padding: 0; }
.guide > nav a { display: block; padding: 6px 10px; border-radius: 4px; color: var(--dim); text-decoration: none; }
.guide > nav a:hover, .guide > nav a[aria-current] { background: var(--soft); color: var(--text); }
.guide main { box-sizing: border-box; width: 100%; max-width: 60rem; padding: 24px 48px 96px; }
.guide main a { color: var(--link); }
.guide main > :not(pre, .table) { max-width: 44rem; }
.guide .table { overflow-x: auto; }
form.set-up { display: grid; gap: 12px; max-width: 28rem; padding: 24px; }
.set-up h1 { font-size: 28px; line-height: 1.25; margin: 0; }
.set-up p { margin: 0; }
.set-up label { display: grid; gap: 4px; }
.set-up input, .set-up button { font: inherit; padding: 8px 12px; border: 1px solid var(--dim); border-radius: 4px; background: var(--ground); color: var(--text); }
.set-up button { justify-self: start; background: var(--text); color: var(--ground); cursor: pointer; }
.set-up output { white-space: pre-wrap; overflow-wrap: anywhere; }
.guide h1 { font-size: 28px; line-height: 1.25; }
.guide h2 { font-size: 20px; margin-top: 40px; }
.guide h2, .guide h3 { scroll-margin-top: calc(var(--bar) + 16px); }
.guide code { font: 14px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; background: var(--soft); border: 1px solid var(--line); border-radius: 4px; padding: 1px 4px; overflow-wrap: anywhere; }
.guide pre { background: var(--soft); border: 1px solid var(--line); border-radius: 8px; padding: 12px 16px; overflow: auto; }
.guide pre code { background: none; border: 0; padding: 0; font-size: 13px; overflow-wrap: normal; }
.guide table { border-collapse: collapse; width: 100%; font-size: 15px; }
.guide td:last-child { min-width: 14rem; }
.guide td code { white-space: nowrap; overflow-wrap: normal; }
.guide th, .guide td { text-align: left; vertical-align: top; padding: 8px 12px 8px 0; border-bottom: 1px solid var(--line); }
@media (max-width: 1000px) {
  .guide { display: block; }
  .guide > nav { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); padding: 8px 12px; }
  .guide main { padding: 8px 22px 64px; }
}
`;
