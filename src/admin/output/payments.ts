import type { PaymentSummary } from '../../domain/payments/payment-summary.ts';
import type { View } from './answers.ts';
import { rowDocument } from './document.ts';
import { moment } from './table.ts';

export const payments: View<PaymentSummary> = {
  what: 'payment',
  keyOf: ({ id }) => id,
  document: (row) => rowDocument(row),
  columns: [
    ...(['kind', 'merchant_id', 'id', 'ref_no', 'status', 'amount_cents', 'account'] as const),
    'created_at',
    ['NEEDS SUPPORT', needOf],
  ],
};

function needOf({ parked_reason, overdue, deadline_at }: PaymentSummary): string {
  const late = overdue ? [`overdue since ${moment(deadline_at)}`] : [];
  const parked = parked_reason === null ? [] : [`parked: ${parked_reason}`];
  return [...parked, ...late].join('; ');
}
