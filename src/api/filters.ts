import type { Days } from '../domain/days.ts';
import { Refusal } from '../domain/errors.ts';
import type { PaymentFilter } from '../domain/payments/list-payments.ts';
import { type PaymentStatus, STATUS_CODES } from '../domain/payments/payment.ts';

/** What a checked query of a list asks for, as the domain's filters. */

type Query = Record<string, unknown>;

/** Of the newer lists of payments. @throws Refusal when the days are the wrong way round */
export function paymentFilterIn(query: Query): PaymentFilter {
  const status = query.status as number | undefined;
  return {
    ...daysIn(query),
    ref_no: query.ref_no as string | undefined,
    checkout_ref_no: query.checkout_ref_no as string | undefined,
    statuses: status === undefined ? undefined : [STATUS_CODES[status]!],
  };
}

/** What the deprecated lists call pending has two names elsewhere. */
const DEPRECATED_STATUSES: Record<string, PaymentStatus[]> = {
  pending: ['pending', 'processing'],
  completed: ['completed'],
  failed: ['failed'],
};

/** Of the deprecated lists of payments. @throws Refusal when the days are the wrong way round */
export function deprecatedFilterIn(query: Query): PaymentFilter {
  return {
    ...daysIn(query),
    ref_no: query.ref_no as string | undefined,
    statuses: DEPRECATED_STATUSES[String(query.status)],
    account: phoneIn(query),
  };
}

/** @throws Refusal when the days are the wrong way round */
export function daysIn(query: Query): Days {
  const dateFrom = query.date_from as string | undefined;
  const dateTo = query.date_to as string | undefined;
  if (dateFrom && dateTo && dateFrom > dateTo) throw new Refusal('invalid_query', 'date_from');
  return { dateFrom, dateTo };
}

/** With the plus that an address may have turned into a space. */
export function phoneIn({ phone }: Query): string | undefined {
  return phone === undefined ? undefined : `+${String(phone).replace(/^[+ ]/, '')}`;
}
