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

/** The deprecated lists name statuses, and show two as one. The others have codes. */
const DEPRECATED_STATUSES: Record<string, PaymentStatus[]> = {
  pending: ['pending', 'processing'],
  completed: ['completed'],
  failed: ['failed'],
};

/** For the lists of payments. */
export function paymentFilterIn(query: Query): PaymentFilter {
  const { status } = query;
  return {
    ...sharedFilterIn(query),
    checkout_ref_no: query.checkout_ref_no as string | undefined,
    statuses:
      typeof status === 'number' ? [STATUS_CODES[status]!] : DEPRECATED_STATUSES[String(status)],
    account: phoneIn(query),
  };
}

/** For the list of wallet transactions. */
export function transactionFilterIn(query: Query): TransactionFilter {
  const { wallet, type } = query as TransactionFilter;
  return { ...sharedFilterIn(query), wallet, type, phone: phoneIn(query) };
}

function sharedFilterIn(query: Query) {
  const { date_from, date_to, ref_no } = query as Days & { ref_no?: string };
  if (date_from && date_to && date_from > date_to) throw new Refusal('invalid_query', 'date_from');
  return { date_from, date_to, ref_no };
}

/** Restores the plus, which is a space in an address unless it is written %2B. */
function phoneIn({ phone }: Query): string | undefined {
  return phone === undefined ? undefined : `+${String(phone).replace(/^[+ ]/, '')}`;
}
