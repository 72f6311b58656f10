import { readdirSync, readFileSync } from 'node:fs';
import { Marked, type Tokens } from 'marked';
import { framed, GUIDES_FOLDER, html, raw } from './pages.ts';

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

/** Returns the names of all guides, in no order. */
export function guideNames(): string[] {
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

/** Returns the page of a guide, with links to all of them and to its own parts. */
export function guidePage({ name, title, markdown }: Guide, guides: readonly Guide[]): string {
  const [heading, ...rest] = markdown.split('\n');
  return framed({
    title: `${title} – Malipo`,
    current: 'Guides',
    body: html`<div class="guide">${raw(linksTo(guides, name))}
<main>${raw(renderMarkdown(heading!))}${raw(contentsOf(markdown))}${raw(renderMarkdown(rest.join('\n')))}</main></div>
<script src="/docs/guide.js"></script>`,
  });
}

/** Returns the page for an address under `/docs` that leads to nothing. */
export function noPage(guides: readonly Guide[]): string {
  return framed({
    title: 'There is no such page – Malipo',
    body: html`<div class="guide">${raw(linksTo(guides))}
<main><h1>There is no such page</h1><p>The guides are in the list. The <a href="/docs">reference</a> has every request.</p></main></div>
<script src="/docs/guide.js"></script>`,
  });
}

/** On a phone the list is folded. @param current is the name of the guide that the reader sees */
function linksTo(guides: readonly Guide[], current?: string): string {
  const links = guides.map(({ name, title }) => {
    const path = `/docs/guides/${name}`;
    return name === current
      ? html`<li><a href="${path}" aria-current="page">${title}</a></li>`
      : html`<li><a href="${path}">${title}</a></li>`;
  });
  return html`<nav aria-label="Guides"><details><summary>All guides</summary><ul>${raw(links.join(''))}</ul></details></nav>`;
}

/** A guide with fewer parts is seen at a glance. */
const MIN_PARTS = 3;

/** Lists the parts of a guide, which have headings of the second order. */
function contentsOf(markdown: string): string {
  const headings = marked
    .lexer(markdown)
    .filter((token): token is Tokens.Heading => token.type === 'heading' && token.depth === 2);
  if (headings.length < MIN_PARTS) return '';
  const links = headings.map(
    ({ text }) =>
      html`<li><a href="#${idOf(text)}">${raw(marked.parseInline(text) as string)}</a></li>`,
  );
  return html`<nav class="contents" aria-label="On this page"><ul>${raw(links.join(''))}</ul></nav>`;
}

/** Opens the list of guides where there is room for it, and lets each sample be copied. */
export const GUIDE_SCRIPT = `
const wide = matchMedia('(min-width: 1001px)');
const list = document.querySelector('.guide > nav details');
const fold = () => { list.open = wide.matches; };
fold();
wide.addEventListener('change', fold);
if (navigator.clipboard) for (const sample of document.querySelectorAll('main pre')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(sample.innerText);
    button.textContent = 'Copied';
    setTimeout(() => { button.textContent = 'Copy'; }, 2000);
  });
  sample.before(button);
}
`;

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
export function idOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}
