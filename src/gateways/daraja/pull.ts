import { HOUR_MS } from '../../time.ts';
import type { KnownTimes, OwnLine, Registration, StatementResult } from '../gateway.ts';
import type { DarajaAccount } from './account.ts';
import { hear, noAnswer, reasonOf } from './answers.ts';
import { eatDateTime, type Fields, fieldsOf, idOf, parseJson } from './messages.ts';
import { dateRows, type PulledRow, readRow } from './pull-rows.ts';

/** The Pull API: the payments that customers made to a shortcode in the last two days. */

const REGISTER_PATH = 'pulltransactions/v1/register';
const QUERY_PATH = 'pulltransactions/v1/query';
const SUCCESS = '1000';
/** Answers a question: there are no more payments. Answers a registration: it was made before. */
const NOTHING_NEW = '1001';
/** The finding about a shortcode that lists nothing. Both causes have the same answer. */
export const LISTS_NOTHING =
  'lists nothing in two days. Safaricom answers the same for a quiet shortcode and for one that is not registered';
const MAX_PAGES = 1_000;
/** The Pull API keeps payments for some 48 hours. */
const KEPT_MS = 47 * HOUR_MS;
const TOO_OLD = 'The Pull API has the last 47 hours only: take a file';

/** The Pull API may also use these words for a window without payments. */
const NOTHING_RETRIEVED = /failed to retrieve transactions/i;
const SERVER_ERROR = 500;

/** One page, or the reason why it cannot be read. A page ends a statement if it has no items. */
type Page = { items: Fields[]; mayLack?: true } | { reason: string };

/** Switches the Pull API on for a shortcode. A shortcode needs this once. */
export async function registerPull(
  { client, pace, settings }: DarajaAccount,
  callbackUrl: string,
): Promise<Registration> {
  const { shortcode, nominatedNumber } = settings;
  if (nominatedNumber === null) {
    return { problem: `No nominated number is configured for ${shortcode}` };
  }
  const answer = await client.post(REGISTER_PATH, {
    ShortCode: shortcode,
    RequestType: 'Pull',
    NominatedNumber: nominatedNumber,
    CallBackURL: callbackUrl,
  });
  if (answer.outcome !== 'answered') return { problem: answer.reason };
  const heard = hear('question', answer, pace);
  const { ResponseStatus, 'Response Status': spaced, ResponseCode } = heard.fields;
  const code = idOf(ResponseStatus ?? spaced ?? ResponseCode);
  if (heard.status === 200 && code === SUCCESS) return { outcome: 'registered' };
  if (heard.status === 200 && code === NOTHING_NEW) return { outcome: 'known' };
  return { problem: reasonOf(heard) };
}

/**
 * Reads all payments from `start` until before `end`, page by page. Returns no answer unless it has
 * read the whole window, because half a statement proves nothing. A row may come twice.
 */
export async function pullStatement(
  account: DarajaAccount,
  start: Date,
  end: Date,
  knownTimes: KnownTimes = async () => new Map(),
): Promise<StatementResult> {
  // An older window would seem empty.
  if (start.getTime() < Date.now() - KEPT_MS) return noAnswer(TOO_OLD);
  const seen = new Set<string>();
  const rows: PulledRow[] = [];
  const own: OwnLine[] = [];
  for (let page = 0, offset = 0, before = 0; page < MAX_PAGES; page += 1) {
    const read = await pullPage(account, start, end, offset);
    if ('reason' in read) return noAnswer(read.reason);
    const { items, mayLack } = read;
    if (items.length === 0) {
      const known = await knownTimes(rows.map(({ line }) => line.transId));
      const dated = datedStatement(rows, { start, end }, known, mayLack ?? page === 0);
      return own.length > 0 && dated.outcome === 'lines' ? { ...dated, own } : dated;
    }
    const news = items.filter((item) => !seen.has(JSON.stringify(item)));
    // If a page repeats another, Safaricom does not cut the pages at our offsets.
    const isRepeated = news.length === 0 && items.length >= before;
    if (page > 0 && isRepeated) return noAnswer('The statement has the same page twice');
    for (const item of news) {
      const row = seen.has(JSON.stringify(item)) ? 'other' : readRow(item);
      if (row === null) return noAnswer('A line of the statement cannot be read');
      if (row !== 'other' && 'toldAt' in row) own.push(row);
      else if (row !== 'other') rows.push(row);
      seen.add(JSON.stringify(item));
    }
    offset += items.length;
    before = items.length;
  }
  return noAnswer(`The statement has more than ${MAX_PAGES} pages`);
}

function datedStatement(
  rows: PulledRow[],
  window: { start: Date; end: Date },
  known: ReadonlyMap<string, Date>,
  isUnsure: boolean,
): StatementResult {
  const dated = dateRows(rows, window, known);
  if (!dated) return noAnswer('A line lies outside of the statement’s window');
  const mayLack = isUnsure || dated.isMixed;
  return { outcome: 'lines', lines: dated.lines, ...(mayLack && { mayLack }) };
}

/** Tells whether the Pull API lists any payment of the last two days, or why it cannot be read. */
export async function listsAnything(account: DarajaAccount): Promise<boolean | string> {
  const end = new Date();
  const page = await pullPage(account, new Date(end.getTime() - KEPT_MS), end, 0);
  return 'reason' in page ? page.reason : page.items.length > 0;
}

/** @param offset is a number of rows, not of pages. */
async function pullPage(
  { client, pace, settings }: DarajaAccount,
  start: Date,
  end: Date,
  offset: number,
): Promise<Page> {
  const answer = await client.post(QUERY_PATH, {
    ShortCode: settings.shortcode,
    StartDate: eatDateTime(start),
    // The last second of the window belongs to it.
    EndDate: eatDateTime(new Date(end.getTime() - 1)),
    OffSetValue: String(offset),
  });
  if (answer.outcome !== 'answered') return { reason: answer.reason };
  const heard = hear('question', answer, pace);
  const isNothing = [heard.status, Number(heard.code)].includes(SERVER_ERROR);
  // These words may also tell a failure, so a payment that is missing may still exist.
  if (isNothing && NOTHING_RETRIEVED.test(heard.words)) return { items: [], mayLack: true };
  const items = itemsOf(heard.fields.Response);
  const isSuccess = heard.status === 200 && items !== null;
  if (isSuccess && heard.code === NOTHING_NEW && items.length === 0) return { items };
  if (!isSuccess || heard.code !== SUCCESS) return { reason: reasonOf(heard) };
  return { items };
}

/** Flattens a list of lists. An empty list may come as the text `[[]]`, or be missing. */
function itemsOf(response: unknown): Fields[] | null {
  const list = typeof response === 'string' ? parseJson(response) : (response ?? []);
  return Array.isArray(list) ? list.flat(2).map(fieldsOf) : null;
}
