import type { DiscrepancyKind } from '../domain/discrepancies/discrepancy.ts';
import { formatAmount } from '../domain/money.ts';
import type { DiscrepancyCase } from '../domain/support/discrepancy-cases.ts';
import type { JournalRow } from '../domain/support/payment-file.ts';
import type { ListView } from './lists.ts';
import { amountOrNull } from './merchant-view.ts';
import { moment } from './output.ts';
import { rowDocument, shortened } from './support-view.ts';

/** What has happened, in the words that support reads. */
export const KIND_WORDS: Readonly<Record<DiscrepancyKind, string>> = {
  other_amount: 'another amount moved than was asked for',
  other_account: 'money moved from or to another account',
  second_success: 'a second receipt for one payment',
  failure_after_success: 'the gateway takes back a success',
  return_failed: 'late money could not be given back',
  paid_after_refund: 'a payout arrived after its refund',
  second_reversal: 'a failed reversal succeeded after another took its place',
  never_taken: 'it could not be sent before its deadline',
  taken_after_failure: 'the gateway took it after it was failed here',
  overdue: 'the gateway has not said in time how it ended',
  missing_at_gateway: "not in the gateway's statement",
  unknown_movement: 'at the gateway, not with us',
  other_payment: 'a callback names another payment than its address',
  unknown_payment: 'a callback for a payment that is not with us',
};

export const discrepancyList: ListView<DiscrepancyCase> = {
  what: 'discrepancy',
  plural: 'discrepancies',
  keyOf: ({ id }) => id,
  document: discrepancyDocument,
  titles: [
    ...['ID', 'SINCE', 'WHAT', 'MERCHANT', 'PAYMENT', 'STATUS', 'ASKED', 'MOVED'],
    ...['MOVED AT', 'IN SUSPENSE', 'ACCOUNT', 'RECEIPT', 'RESOLVE AS'],
  ],
  cells: (row) => [
    row.id,
    moment(row.opened_at),
    `${row.kind}: ${KIND_WORDS[row.kind]}`,
    String(row.merchant_id ?? '-'),
    paymentOf(row),
    row.status ?? '-',
    amountOrNull(row.asked_cents) ?? '-',
    amountOrNull(row.amount_cents) ?? '-',
    typeof row.details.completed_at === 'string' ? moment(new Date(row.details.completed_at)) : '-',
    amountOrNull(row.suspense_cents) ?? '-',
    row.moved_account ?? row.account ?? wordOf(row.details.account),
    shortened(row.trans_id ?? '-'),
    row.resolution ?? row.allowed.join(', '),
  ],
};

/** Of money that no payment here explains, what the gateway calls it. */
function paymentOf({ payment_kind, ref_no, payment_id, details }: DiscrepancyCase): string {
  if (payment_kind) return `${payment_kind} ${ref_no ?? payment_id}`;
  return typeof details.kind === 'string' ? `${details.kind} ${wordOf(details.reference)}` : '-';
}

function wordOf(value: unknown): string {
  return typeof value === 'string' ? shortened(value) : '-';
}

/** A discrepancy as JSON. `amount` is what the gateway speaks of, `asked` the payment's own. */
export function discrepancyDocument(row: DiscrepancyCase) {
  const { details, ...rest } = row;
  return {
    ...rowDocument(rest),
    what: KIND_WORDS[row.kind],
    details: rowDocument(details),
  };
}

/** The command for everything that can be decided about it. */
export function resolveCommands({ id, allowed }: DiscrepancyCase): string[] {
  return allowed.map((as) => `  discrepancy resolve ${id} --as ${as} --reason …`);
}

export function journalDocument({ entries, ...journal }: JournalRow) {
  return {
    id: journal.id,
    source: journal.source_kind,
    kind: journal.kind,
    created_at: journal.created_at.toISOString(),
    entries: entries.map(({ account, amount_cents }) => ({
      account,
      amount: formatAmount(amount_cents),
    })),
  };
}
