import { Refusal } from '../domain/errors.ts';
import { REVERSAL_STATES } from '../domain/payments/kinds.ts';
import type { PaymentFilter } from '../domain/payments/list-payments.ts';
import { type PaymentStatus, STATUS_CODES } from '../domain/payments/payment.ts';
import { spanOf } from '../domain/period.ts';
import type { TransactionFilter } from '../domain/wallets/list-transactions.ts';
import type { OwnDeliveryFilter } from '../domain/webhooks/list-own-deliveries.ts';
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
