import { type MarkedToken, marked } from 'marked';
import MiniSearch, { type Query, type SearchResult } from 'minisearch';
import { type Endpoint, SECTIONS } from '../endpoints/endpoints.ts';
import { type Guide, idOf } from './guides.ts';
import { framed, html, raw } from './pages.ts';

/** A part of the documentation: what stands under a heading of a guide, or a request of the reference. */
interface Part {
  /** Its address within the site, with the heading. */
  path: string;
  /** The guide, or the section of the reference. */
  page: string;
  title: string;
  /** Its words, without marks. */
  text: string;
}

/** Searches all parts, and returns a page with what it has found. */
export type Search = (query: string) => string;

const MAX_QUERY_LENGTH = 100;
const MAX_FOUND = 20;
/** The characters that a page shows of a part, from a little before the first word that was found. */
const SHOWN_LENGTH = 220;
const SHOWN_BEFORE = 60;

/** What the documentation calls a thing for which readers have another word. */
const OUR_WORDS = new Map([
  ['refund', 'give money back'],
  ['retry', 'no answer'],
  ['timeout', 'no answer'],
  ['timezone', 'utc'],
  ['zone', 'utc'],
]);

/** Makes a search over the guides and the reference. */
export function createSearch(guides: readonly Guide[]): Search {
  const parts = [...guides.flatMap(partsOfGuide), ...partsOfReference()];
  const index = new MiniSearch<Part>({
    fields: ['title', 'page', 'text'],
    idField: 'path',
    // A field is found by its name, and by each word of the name.
    tokenize: (text) =>
      wordsOf(text).flatMap((word) => (word.includes('_') ? [word, ...word.split('_')] : [word])),
    searchOptions: {
      tokenize: wordsOf,
      boost: { title: 4, page: 2 },
      prefix: true,
      fuzzy: 0.15,
      combineWith: 'AND',
    },
  });
  index.addAll(parts);
  const byPath = new Map(parts.map((part) => [part.path, part]));
  return (query) => {
    const asked = query.slice(0, MAX_QUERY_LENGTH).trim();
    const found = asked === '' ? [] : index.search(queryOf(asked)).slice(0, MAX_FOUND);
    return resultPage(
      asked,
      found.map((result) => shown(byPath.get(String(result.id))!, result)),
    );
  };
}

/** Asks for all words, each as it was typed or by our word for it. */
function queryOf(asked: string): Query {
  const queries = wordsOf(asked).map((word): Query => {
    const ours = OUR_WORDS.get(word.toLowerCase().replace(/s$/, ''));
    return ours
      ? { combineWith: 'OR', queries: [word, { combineWith: 'AND', queries: [ours] }] }
      : word;
  });
  return { combineWith: 'AND', queries };
}

function wordsOf(text: string): string[] {
  return text.split(/[^\p{L}\p{N}_]+/u).filter((word) => word !== '');
}

/** Takes a guide apart at its headings. */
function partsOfGuide({ name, title, markdown }: Guide): Part[] {
  const path = `/docs/guides/${name}`;
  const parts: Part[] = [{ path, page: 'Guide', title, text: '' }];
  for (const token of marked.lexer(markdown) as MarkedToken[]) {
    if (token.type === 'heading' && token.depth > 1) {
      parts.push({ path: `${path}#${idOf(token.text)}`, page: title, title: token.text, text: '' });
    } else if (token.type !== 'heading' && token.type !== 'space') {
      parts.at(-1)!.text += ` ${plain(token.raw)}`;
    }
  }
  return parts.map((part) => ({ ...part, title: plain(part.title), text: part.text.trim() }));
}

/** Takes the marks out of Markdown, and joins its lines. */
function plain(markdown: string): string {
  return markdown
    .replace(/<!--.*?-->/gs, ' ')
    .replace(/\]\([^)]*\)/g, '')
    .replace(/^[\s|:-]+$/gm, ' ')
    .replace(/[`*[\]|]|^#+ |^```\w*/gm, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

function partsOfReference(): Part[] {
  return Object.entries(SECTIONS).flatMap(([section, endpoints]) =>
    Object.values<Endpoint>(endpoints).map((endpoint) => partOfEndpoint(section, endpoint)),
  );
}

function partOfEndpoint(section: string, endpoint: Endpoint): Part {
  const { method, path, summary, description, body, query } = endpoint;
  const fields = Object.entries({ ...query?.properties, ...body?.properties });
  const texts = fields.map(([name, field]) => `${name}: ${field.description ?? ''}`);
  const request = `${method.toUpperCase()} ${path}`;
  return {
    // As the reference names it.
    path: `/docs#tag/${section.toLowerCase().replaceAll(' ', '-')}/${method.toUpperCase()}${path}`,
    page: `Reference: ${section}`,
    title: summary,
    text: plain([request, description, ...texts].filter(Boolean).join('. ')),
  };
}

interface Shown extends Part {
  excerpt: string;
}

function shown(part: Part, { terms }: SearchResult): Shown {
  const text = part.text.toLowerCase();
  const places = terms.map((term) => text.indexOf(term)).filter((place) => place >= 0);
  const first = Math.max(0, Math.min(...places, text.length) - SHOWN_BEFORE);
  const from = places.length === 0 || first === 0 ? 0 : text.indexOf(' ', first) + 1;
  const isCut = from + SHOWN_LENGTH < part.text.length;
  const cut = part.text.slice(from, from + SHOWN_LENGTH);
  const excerpt = isCut ? cut.slice(0, cut.lastIndexOf(' ')) : cut;
  return { ...part, excerpt: `${from > 0 ? '… ' : ''}${excerpt}${isCut ? ' …' : ''}` };
}

function resultPage(asked: string, found: readonly Shown[]): string {
  const items = found.map(
    ({ path, page, title, excerpt }) =>
      html`<li><a href="${path}">${title}</a> <span class="dim">${page}</span><p>${excerpt}</p></li>`,
  );
  return framed({
    title: 'Search – Malipo',
    asked,
    body: html`<main class="found"><h1>Search</h1>
<p role="status">${saying(asked, found.length)}</p><ol>${raw(items.join(''))}</ol></main>`,
  });
}

function saying(asked: string, count: number): string {
  if (asked === '')
    return 'Search for a word of the guides or the reference, such as a field or an error.';
  if (count === 0 && wordsOf(asked).length > 1)
    return `Nothing has all words of “${asked}”. Try fewer words.`;
  if (count === 0) return `Nothing has the word “${asked}”. Try another word.`;
  return `${count === MAX_FOUND ? 'The best' : 'Found'} ${count} for “${asked}”`;
}
