import { DISCREPANCY_KINDS } from '../../domain/discrepancies/discrepancy.ts';
import type { DiscrepancyCase } from '../../domain/support/discrepancy-cases.ts';
import type { View } from './answers.ts';
import { rowDocument } from './document.ts';

export const discrepancies: View<DiscrepancyCase> = {
  what: 'discrepancy',
  plural: 'discrepancies',
  keyOf: ({ id }) => id,
  // `amount` is the amount that the gateway names, `asked` is the payment's.
  document: ({ details, ...row }) => ({
    ...rowDocument(row),
    what: DISCREPANCY_KINDS[row.kind],
    details: rowDocument(details),
  }),
  columns: [
    'id',
    ['SINCE', 'opened_at'],
    ['WHAT', ({ kind }) => `${kind}: ${DISCREPANCY_KINDS[kind]}`],
    ['MERCHANT', 'merchant_id'],
    ['PAYMENT', paymentOf],
    'status',
    ['ASKED', 'asked_cents'],
    ['MOVED', 'amount_cents'],
    ['MOVED AT', ({ details }) => details.completed_at && new Date(String(details.completed_at))],
    ['IN SUSPENSE', 'suspense_cents'],
    ['ACCOUNT', (row) => row.moved_account ?? row.account ?? row.details.account],
    ['RECEIPT', 'trans_id'],
    ['RESOLVE AS', ({ resolution, allowed }) => resolution ?? allowed],
  ],
};

/** Names the payment, or the movement that no payment here explains. */
function paymentOf({ payment_kind, ref_no, payment_id, details }: DiscrepancyCase): string | null {
  if (payment_kind) return `${payment_kind} ${ref_no ?? payment_id}`;
  return details.kind ? `${details.kind} ${details.reference ?? '-'}` : null;
}
