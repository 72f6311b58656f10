import { Refusal } from '../domain/errors.ts';
import type { AsOf, PageRequest } from '../domain/lists.ts';
import type { FeedEvent, FeedPage } from '../domain/webhooks/list-own-deliveries.ts';
import type { Config } from '../process/config.ts';
import { BASE_PATH } from './context.ts';
import type { Endpoint } from './endpoints/endpoint.ts';

/** The query of a list. */
export type ListQuery = Readonly<Record<string, string | number | undefined>> & {
  page: number;
  page_size: number;
  as_of?: string | undefined;
};

/** Reads the page that a valid query asks for. @throws Refusal when `as_of` is not one of ours */
export function pageRequestOf({ page, page_size, as_of }: ListQuery): PageRequest {
  return { page, pageSize: page_size, asOf: as_of === undefined ? null : decodeAsOf(as_of) };
}

/**
 * Builds the envelope of a list: the records of one page, and the addresses of the pages before and
 * after it. `plain` marks a next page of a list that does not grow, which needs no `as_of`.
 */
export function envelopeOf<Row>(
  { publicUrl }: Config,
  { path }: Pick<Endpoint, 'path'>,
  query: ListQuery,
  page: { count: number; rows: readonly Row[]; next: AsOf | 'plain' | null },
  present: (row: Row) => unknown,
) {
  const { page: number, as_of } = query;
  const address = (to: number, asOf: string | undefined) =>
    addressOf(publicUrl, path, { ...query, page: to, as_of: asOf });
  return {
    count: page.count,
    next:
      page.next && address(number + 1, page.next === 'plain' ? undefined : encodeAsOf(page.next)),
    previous: number > 1 ? address(number - 1, as_of) : null,
    results: page.rows.map(present),
  };
}

/**
 * Builds the envelope of a feed, which goes forward only: `next` is the address of what comes after
 * the last record of this page.
 */
export function feedEnvelopeOf(
  { publicUrl }: Config,
  { path }: Pick<Endpoint, 'path'>,
  query: Parameters<typeof addressOf>[2],
  page: FeedPage,
  present: (event: FeedEvent) => unknown,
) {
  return {
    count: page.count,
    next: page.next && addressOf(publicUrl, path, { ...query, after: page.next }),
    previous: null,
    results: page.events.map(present),
  };
}

function addressOf(
  publicUrl: string,
  path: string,
  query: Readonly<Record<string, string | number | undefined>>,
): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, `${value}`);
  }
  return `${publicUrl}${BASE_PATH}${path}?${parameters}`;
}

function encodeAsOf({ newest, count, page, after }: AsOf): string {
  const parts = [newest.createdUs, newest.id, count, page, after.createdUs, after.id];
  return Buffer.from(parts.join('.')).toString('base64url');
}

const POSITION = '(\\d{1,16})\\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})';
const AS_OF = new RegExp(`^${POSITION}\\.(\\d{1,12})\\.(\\d{1,9})\\.${POSITION}$`);

function decodeAsOf(text: string): AsOf {
  const parts = AS_OF.exec(Buffer.from(text, 'base64url').toString('latin1'));
  if (!parts) throw new Refusal('invalid_query', 'as_of');
  const [, newestUs, newestId, count, page, afterUs, afterId] = parts;
  return {
    newest: { createdUs: Number(newestUs), id: newestId! },
    count: Number(count),
    page: Number(page),
    after: { createdUs: Number(afterUs), id: afterId! },
  };
}
