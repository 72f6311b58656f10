import type { Days } from '../domain/days.ts';
import { Refusal } from '../domain/errors.ts';
import type { PaymentFilter } from '../domain/payments/list-payments.ts';
import { type PaymentStatus, STATUS_CODES } from '../domain/payments/payment.ts';
import type { TransactionFilter } from '../domain/wallets/list-transactions.ts';

/**
 * Each function turns the valid query of a list into a filter of the domain.
 * @throws Refusal when the last day is before the first
 */

type Query = Record<string, unknown>;

/** For the lists of payments. */
export function paymentFilterIn(query: Query): PaymentFilter {
  const status = query.status as number | undefined;
  return {
    ...daysIn(query),
    ref_no: query.ref_no as string | undefined,
    checkout_ref_no: query.checkout_ref_no as string | undefined,
    statuses: status === undefined ? undefined : [STATUS_CODES[status]!],
  };
}

/** The deprecated lists show two statuses as one. */
const DEPRECATED_STATUSES: Record<string, PaymentStatus[]> = {
  pending: ['pending', 'processing'],
  completed: ['completed'],
  failed: ['failed'],
};

/** For the deprecated lists of payments. */
export function deprecatedFilterIn(query: Query): PaymentFilter {
  return {
    ...daysIn(query),
    ref_no: query.ref_no as string | undefined,
    statuses: DEPRECATED_STATUSES[String(query.status)],
    account: phoneIn(query),
  };
}

/** For the list of wallet transactions. */
export function transactionFilterIn(query: Query): TransactionFilter {
  return {
    ...daysIn(query),
    wallet: query.wallet as TransactionFilter['wallet'],
    type: query.type as string | undefined,
    ref_no: query.ref_no as string | undefined,
    phone: phoneIn(query),
  };
}

function daysIn(query: Query): Days {
  const { date_from, date_to } = query as Days;
  if (date_from && date_to && date_from > date_to) throw new Refusal('invalid_query', 'date_from');
  return { date_from, date_to };
}

/** Restores the plus, which is a space in an address unless it is written %2B. */
function phoneIn({ phone }: Query): string | undefined {
  return phone === undefined ? undefined : `+${String(phone).replace(/^[+ ]/, '')}`;
}
