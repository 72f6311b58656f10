import { setTimeout as sleep } from 'node:timers/promises';
import type { ConsoleVisitor } from '../../scripts/sandbox/console-visitor.ts';
import { ROUTES, type RouteName } from '../../src/console/routes.ts';

/** Pages that are read to find links to others. */
const READ_PER_ROUTE = 25;

/** The pages of the console that somebody comes to by links and by forms that only ask. */
export interface Crawl {
  /** The addresses of each route, in the order in which they were found. */
  found: Map<RouteName, string[]>;
  /** The addresses that did not answer with a page. */
  broken: string[];
}

/** Follows every link from the overview on, as far as the visitor may go. */
export async function crawlConsole(visitor: ConsoleVisitor): Promise<Crawl> {
  const crawl: Crawl = { found: new Map(), broken: [] };
  const waiting = ['/'];
  const seen = new Set(waiting);
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const route = routeOf(path);
    if (!route) {
      crawl.broken.push(`${path}: no route`);
      continue;
    }
    const known = crawl.found.get(route) ?? [];
    if (known.length >= READ_PER_ROUTE) continue;
    crawl.found.set(route, [...known, path]);
    for (const next of await linksOf(visitor, path, crawl)) {
      if (seen.has(next)) continue;
      seen.add(next);
      waiting.push(next);
    }
  }
  return crawl;
}

const PAUSE_MS = 5_000;

/** Reads a page. Nobody looks up more than 100 things within a minute, so a fast crawl waits. */
async function readInTurn(visitor: ConsoleVisitor, path: string) {
  for (;;) {
    const answer = await visitor.read(path);
    const html = await answer.text();
    if (answer.status !== 403 || !html.includes('within a minute')) return { answer, html };
    await sleep(PAUSE_MS);
  }
}

async function linksOf(visitor: ConsoleVisitor, path: string, crawl: Crawl): Promise<string[]> {
  const { answer, html } = await readInTurn(visitor, path);
  const location = answer.headers.get('location');
  if (answer.status === 303 && location) return [location];
  // The page of something that is not possible now says why.
  if (answer.status !== 200 && answer.status !== 422)
    crawl.broken.push(`${path}: HTTP ${answer.status}`);
  const main = html.slice(html.indexOf('<body'));
  const links = [...main.matchAll(/<a\b[^>]*\shref="(\/[^"]*)"/g)].map(([, href]) => plain(href!));
  const forms = [...main.matchAll(/<form\b[^>]*method="get"[^>]*>[\s\S]*?<\/form>/g)];
  return [...links, ...forms.map(([form]) => addressOf(form))].map((link) => link.split('#')[0]!);
}

/** Where a form leads that is sent as it stands, with the first of its choices. */
function addressOf(form: string): string {
  const action = /action="([^"]*)"/.exec(form)![1]!;
  const fields = new URLSearchParams();
  for (const [input] of form.matchAll(/<input\b[^>]*>/g)) {
    const { name, value, type } = attributesOf(input);
    if (!name) continue;
    if (type === 'hidden') fields.append(name, value ?? '');
    if (type === 'checkbox') fields.append(name, value ?? 'on');
    if (type === 'radio' && !fields.has(name)) fields.append(name, value ?? 'on');
  }
  return `${plain(action)}?${fields}`;
}

function attributesOf(tag: string): Partial<Record<string, string>> {
  const attributes = [...tag.matchAll(/\s([\w-]+)="([^"]*)"/g)];
  return Object.fromEntries(attributes.map(([, name, value]) => [name!, plain(value!)]));
}

function plain(text: string): string {
  return text.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&#39;', "'");
}

/** Returns the GET route of an address. A fixed word of a path goes before a parameter. */
export function routeOf(address: string): RouteName | undefined {
  const parts = address.split(/[?#]/)[0]!.split('/');
  const fits = (Object.keys(ROUTES) as RouteName[]).filter((name) => {
    const { method, path } = ROUTES[name];
    const wanted = path.split('/');
    if (method !== 'get' || wanted.length !== parts.length) return false;
    return wanted.every((part, index) => part.startsWith(':') || part === parts[index]);
  });
  const parameters = (name: RouteName) => ROUTES[name].path.split(':').length;
  return fits.sort((a, b) => parameters(a) - parameters(b))[0];
}
