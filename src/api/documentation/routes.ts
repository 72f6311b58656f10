import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { RequestHandler, Router } from 'express';
import { Marked, type Tokens } from 'marked';
import { strictRouter } from '../../http/http-server.ts';
import { refuseOtherMethods } from '../middleware/methods.ts';
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
  scalarScript,
  scalarVersion,
} from './pages.ts';
import { STYLE } from './style.ts';

/**
 * Serves `/openapi.json` for programs, and the reference and the guides for people, and leads there
 * from `/`. Each text is made when it is first asked for, and kept.
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
    '/docs/guides': (_req, res) => res.redirect(`/docs/guides/${guides()[0]!.name}`),
  };
  for (const name of guideNames()) {
    const page = () => guidePage(guides().find((guide) => guide.name === name)!, guides());
    served[`/docs/guides/${name}`] = sendPage(page, GUIDE_POLICY);
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
    // Whoever has no mouse scrolls it with the keys.
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
