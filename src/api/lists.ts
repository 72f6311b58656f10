import { Refusal } from '../domain/errors.ts';
import type { AsOf, PageRequest } from '../domain/lists.ts';
import { REVERSAL_STATES } from '../domain/payments/kinds.ts';
import type { PaymentFilter } from '../domain/payments/list-payments.ts';
import { type PaymentStatus, STATUS_CODES } from '../domain/payments/payment.ts';
import { spanOf } from '../domain/period.ts';
import type { TransactionFilter } from '../domain/wallets/list-transactions.ts';
import type {
  FeedEvent,
  FeedPage,
  OwnDeliveryFilter,
} from '../domain/webhooks/list-own-deliveries.ts';
import type { Config } from '../process/config.ts';
import { BASE_PATH } from './context.ts';
import type { Endpoint } from './endpoints/endpoint.ts';
import type { walletTransactions, webhookDeliveries } from './schemas/queries.ts';
import type { InputOf } from './schemas/validator.ts';

/**
 * Each function turns the valid query of a list into a filter of the domain.
 * @throws Refusal when the period ends before it begins
 */

interface Dated {
  date_from?: string | undefined;
  date_to?: string | undefined;
  ref_no?: string | undefined;
}

export interface PaymentQuery extends Dated {
  status?: string | number | undefined;
  checkout_ref_no?: string | undefined;
  phone?: string | undefined;
}

/** For the lists of payments. The deprecated ones show what is processing as pending. */
export function paymentFilterIn(query: PaymentQuery, isDeprecated: boolean): PaymentFilter {
  return {
    ...sharedFilterIn(query),
    checkout_ref_no: query.checkout_ref_no,
    statuses: statusesIn(query, isDeprecated),
    account: phoneIn(query),
  };
}

/** A query names a status by its number or by a word of its list. */
function statusesIn({ status }: PaymentQuery, isDeprecated: boolean): PaymentStatus[] | undefined {
  if (status === undefined) return undefined;
  if (isDeprecated && status === 'pending') return ['pending', 'processing'];
  return [typeof status === 'number' ? STATUS_CODES[status]! : STATUS_OF_WORD.get(status)!];
}

const STATUS_OF_WORD: ReadonlyMap<string, PaymentStatus> = new Map([
  ...STATUS_CODES.map((status) => [status, status] as const),
  ...STATUS_CODES.map((status) => [REVERSAL_STATES[status].label, status] as const),
]);

/** For the list of wallet transactions. */
export function transactionFilterIn(query: InputOf<typeof walletTransactions>): TransactionFilter {
  const { wallet, type } = query;
  return { ...sharedFilterIn(query), wallet, type, phone: phoneIn(query) };
}

/** For the list of webhooks. */
export function deliveryFilterIn(query: InputOf<typeof webhookDeliveries>): OwnDeliveryFilter {
  const { status, event, type, payment_id, endpoint } = query;
  return {
    ...sharedFilterIn(query),
    status,
    kind: type,
    event,
    payment_id,
    endpoint,
  };
}

function sharedFilterIn({ date_from, date_to, ref_no }: Dated) {
  const created_from = date_from && spanOf(date_from)!.first;
  const created_to = date_to && spanOf(date_to)!.last;
  if (created_from && created_to && created_from > created_to) {
    throw new Refusal('invalid_query', 'date_from');
  }
  return { created_from, created_to, ref_no };
}

/** Restores the plus, which is a space in an address unless it is written %2B. */
function phoneIn({ phone }: Pick<PaymentQuery, 'phone'>): string | undefined {
  return phone === undefined ? undefined : `+${phone.replace(/^[+ ]/, '')}`;
}

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
