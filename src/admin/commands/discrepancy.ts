import { DISCREPANCY_KINDS, type DiscrepancyKind } from '../../domain/discrepancies/discrepancy.ts';
import type { Decided } from '../../domain/support/decide-discrepancy.ts';
import { listCases } from '../../domain/support/discrepancy-cases.ts';
import { adoptMovements } from '../../operations/adopt.ts';
import { assignRow } from '../../operations/assign-row.ts';
import { resolveDiscrepancy } from '../../operations/discrepancy.ts';
import { flag, optional } from '../../operations/field.ts';
import * as read from '../../operations/readers.ts';
import { verbsOf } from '../operation-verb.ts';
import { lists } from '../output/answers.ts';
import { discrepancies } from '../output/discrepancies.ts';
import { render } from '../output/table.ts';
import type { Noun } from '../verb.ts';

const kinds = read.oneOf(Object.keys(DISCREPANCY_KINDS) as DiscrepancyKind[]);

const list = lists(discrepancies, read.uuid, {
  role: 'support',
  summary: 'Lists contradictions, oldest first, and how each can be resolved',
  options: {
    kind: optional('kind', kinds, 'Only discrepancies of this kind'),
    merchant_id: read.ofMerchant,
    resolved: flag('resolved', 'Resolved discrepancies instead of open ones'),
  },
  read: ({ database }, { resolved, ...page }) => listCases(database, { ...page, open: !resolved }),
});

const decided: Parameters<typeof verbsOf>[1] = () => ({
  document: (row) => {
    const { before, after, booked } = row as Decided;
    return { ...discrepancies.document(after), previous_status: before.status, booked };
  },
  lines: ({ row }) => {
    const { before, after, booked } = row as Decided;
    const payment = before.status && {
      payment: `${before.payment_kind} ${before.ref_no ?? before.payment_id}`,
      status: after.status,
      status_before: before.status,
      amount: discrepancies.document(after).asked,
    };
    return [render({ ...payment, booked }), booked.length === 0 && '  nothing was booked'];
  },
});

export const discrepancy: Noun = {
  summary: 'Contradictions that wait for a decision',
  verbs: {
    list,
    ...verbsOf([resolveDiscrepancy], decided),
    ...verbsOf([assignRow]),
    ...verbsOf([adoptMovements]),
  },
};
