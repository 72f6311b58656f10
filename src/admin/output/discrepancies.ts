import { DISCREPANCY_KINDS, type Evidence } from '../../domain/discrepancies/discrepancy.ts';
import type { DiscrepancyCase } from '../../domain/support/discrepancy-cases.ts';
import type { View } from './answers.ts';
import { rowDocument } from './document.ts';

export const discrepancies: View<DiscrepancyCase> = {
  what: 'discrepancy',
  plural: 'discrepancies',
  keyOf: ({ id }) => id,
  // `amount` is the amount that the gateway names, `asked` is the payment's.
  document: ({ details, evidence, ...row }) => ({
    ...rowDocument(row),
    what: DISCREPANCY_KINDS[row.kind],
    details: rowDocument(details),
    // A single finding is in the details.
    evidence: evidence.length > 1 ? evidence.map((each) => rowDocument(factsOf(each))) : [],
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
    'gateway',
    ['RECEIPT', 'trans_id'],
    ['RESOLVE AS', ({ resolution, allowed }) => resolution ?? allowed],
    ['ALSO FOUND', furtherFindings],
  ],
};

function factsOf({ found_at, amount_cents, details, decided }: Evidence) {
  return { found_at: new Date(found_at), amount_cents, ...details, decided };
}

/** Returns the facts in which the findings after the first that waits for a decision differ. */
function furtherFindings({ evidence, evidence_complete }: DiscrepancyCase): string[] {
  const [first, ...others] = evidence
    .filter(({ decided }) => !decided)
    .map((each) => rowDocument({ ...factsOf(each), found_at: null, callback_id: null }));
  const differences = others.map((facts) =>
    Object.entries(facts)
      .filter(([name, value]) => value !== first?.[name])
      .map(([name, value]) => `${name.replaceAll('_', ' ')} ${value ?? '-'}`)
      .join(' '),
  );
  return evidence_complete ? differences : [...differences, 'and more'];
}

/** Names the payment, or the movement that no payment here explains. */
function paymentOf({ payment_kind, ref_no, payment_id, details }: DiscrepancyCase): string | null {
  if (payment_kind) return `${payment_kind} ${ref_no ?? payment_id}`;
  return details.kind ? `${details.kind} ${details.reference ?? '-'}` : null;
}
