import { HOUR_MS, SECOND_MS } from '../../time.ts';
import type { Registration, StatementLine, StatementResult } from '../gateway.ts';
import type { DarajaAccount } from './account.ts';
import { hear, noAnswer, reasonOf } from './answers.ts';
import {
  eatDateTime,
  type Fields,
  fieldsOf,
  idOf,
  parseJson,
  phoneOf,
  readTime,
  statedCents,
} from './messages.ts';

/** The Pull API: the payments that customers made to a shortcode in the last two days. */

const REGISTER_PATH = 'pulltransactions/v1/register';
const QUERY_PATH = 'pulltransactions/v1/query';
const SUCCESS = '1000';
/** To a question: there is nothing more. To a registration: it was made before. */
const NOTHING_NEW = '1001';
/** What is said of a shortcode that lists nothing. The answer is the same for both causes. */
export const LISTS_NOTHING =
  'lists nothing in two days. Safaricom answers the same for a quiet shortcode and for one that is not registered';
const COLLECTION_TYPE = /^c2b/i;
const MAX_PAGES = 1_000;
/** The Pull API keeps payments for some 48 hours. */
const KEPT_MS = 47 * HOUR_MS;
const TOO_OLD = 'The Pull API has the last 47 hours only: take a file';

/** One page, or the reason why it cannot be read. */
type Page = { lines: StatementLine[] } | { reason: string };

/** Switches the Pull API on for a shortcode. That is needed once. */
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
 * Reads all payments from `start` until before `end`, page by page. A window that cannot be read
 * whole is no answer, because half a statement proves nothing.
 */
export async function pullStatement(
  account: DarajaAccount,
  start: Date,
  end: Date,
): Promise<StatementResult> {
  // An older window would seem empty.
  if (start.getTime() < Date.now() - KEPT_MS) return noAnswer(TOO_OLD);
  const lines: StatementLine[] = [];
  const receipts = new Set<string | null>();
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const read = await pullPage(account, start, end, lines.length);
    if ('reason' in read) return noAnswer(read.reason);
    if (read.lines.length === 0) return { outcome: 'lines', lines, ...(page === 0 && MAY_LACK) };
    for (const line of read.lines) {
      // Pages that overlap were not cut where we asked, so a line may be missing between others.
      if (receipts.has(line.transId)) return noAnswer(`${line.transId} is on two pages`);
      receipts.add(line.transId);
      lines.push(line);
    }
  }
  return noAnswer(`The statement has more than ${MAX_PAGES} pages`);
}

/** Daraja says "no records" also of a shortcode that is not registered. */
const MAY_LACK = { mayLack: true } as const;

/** Tells whether the Pull API lists any payment of the last two days, or why it cannot be read. */
export async function listsAnything(account: DarajaAccount): Promise<boolean | string> {
  const end = new Date();
  const page = await pullPage(account, new Date(end.getTime() - KEPT_MS), end, 0);
  return 'reason' in page ? page.reason : page.lines.length > 0;
}

/** @param offset is a number of lines, not of pages. */
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
  const items = itemsOf(heard.fields.Response);
  const isSuccess = heard.status === 200 && items !== null;
  if (isSuccess && heard.code === NOTHING_NEW && items.length === 0) return { lines: [] };
  if (!isSuccess || heard.code !== SUCCESS) return { reason: reasonOf(heard) };
  return linesOf(items, start, end);
}

/** Flattens a list of lists. An empty one may come as the text `[[]]`, or be missing. */
function itemsOf(response: unknown): Fields[] | null {
  const list = typeof response === 'string' ? parseJson(response) : (response ?? []);
  return Array.isArray(list) ? list.flat(2).map(fieldsOf) : null;
}

function linesOf(items: Fields[], start: Date, end: Date): Page {
  const lines = items.map(readLine);
  const isWhole = lines.every((line) => line !== null);
  if (!isWhole) return { reason: 'A line of the statement cannot be read' };
  const from = start.getTime() - (start.getTime() % SECOND_MS);
  const isInside = ({ completedAt }: StatementLine) =>
    completedAt.getTime() >= from && completedAt < end;
  if (!lines.every(isInside)) return { reason: 'A line lies outside of the statement’s window' };
  return { lines };
}

function readLine(item: Fields): StatementLine | null {
  const transId = idOf(item.transactionId);
  const amountCents = statedCents(item.amount);
  const completedAt = readTime(item.trxDate);
  const isCollection = COLLECTION_TYPE.test(idOf(item.transactiontype) ?? '');
  if (!isCollection || transId === null || !amountCents || completedAt === null) return null;
  const account = phoneOf(item.msisdn);
  return { kind: 'collection', reference: null, account, amountCents, transId, completedAt };
}
