import { DISCREPANCY_KINDS, type DiscrepancyKind } from '../../domain/discrepancies/discrepancy.ts';
import { decideDiscrepancy } from '../../domain/support/decide-discrepancy.ts';
import { listCases } from '../../domain/support/discrepancy-cases.ts';
import { RESOLUTIONS } from '../../domain/support/resolution.ts';
import { flag, optional, required, UsageError } from '../../operations/field.ts';
import * as read from '../../operations/readers.ts';
import { lists } from '../output/answers.ts';
import { discrepancies } from '../output/discrepancies.ts';
import { render } from '../output/table.ts';
import { changes, type Noun } from '../verb.ts';

const MAX_RECEIPT_LENGTH = 100;
const kinds = read.oneOf(Object.keys(DISCREPANCY_KINDS) as DiscrepancyKind[]);
const receipt = read.text('RECEIPT', MAX_RECEIPT_LENGTH);

const list = lists(discrepancies, read.uuid, {
  role: 'viewer',
  summary: 'Lists what does not add up, oldest first, and how each can be resolved',
  options: {
    kind: optional('kind', kinds, 'Only those of this kind'),
    merchant_id: read.ofMerchant,
    resolved: flag('resolved', 'Those that are resolved, instead of those that are open'),
  },
  read: ({ database }, { resolved, ...page }) => listCases(database, { ...page, open: !resolved }),
});

const resolve = changes({
  role: 'support',
  summary: 'Decides about a discrepancy, with everything that follows from it',
  notes:
    'completed: the payment is complete. accept-amount: likewise, with the amount that moved. failed: the payment has failed; money that went out is lost to the operator. returned: the money goes back, or has come back. same: it is the money that completed the payment, under its right receipt. undo: the payment did not complete after all, or its money has come back. dismissed: there is nothing to do. discrepancy list shows which of these are possible, and docs/discrepancies.md explains each.',
  options: {
    id: required('discrepancy', read.uuid, 'The id of the discrepancy'),
    as: required('as', read.oneOf(RESOLUTIONS), 'The decision'),
    transId: optional('trans-id', receipt, 'The receipt of an overdue payment that has completed'),
  },
  argument: 'id',
  check: ({ transId, as }) => {
    if (transId === undefined || as === 'completed') return;
    throw new UsageError(
      '--trans-id is the receipt of what has completed: use it with --as completed',
    );
  },
  run: async ({ config, parserOf }, { id, as, transId = null }, { actor, reason, audited }) => {
    const options = { ...config, parserOf };
    const decision = { as, actor, reason, transId };
    const { before, after, booked } = await decideDiscrepancy(audited, id, decision, options);
    const document = discrepancies.document(after);
    const payment = before.status && {
      payment: `${before.payment_kind} ${before.ref_no ?? before.payment_id}`,
      status: after.status,
      status_before: before.status,
      amount: document.asked,
    };
    return {
      data: { ...document, previous_status: before.status, booked },
      lines: [
        `Discrepancy ${id} (${after.kind}) is resolved as ${as}`,
        render({ ...payment, booked }),
        booked.length === 0 && '  nothing was booked',
      ],
    };
  },
});

export const discrepancy: Noun = {
  summary: 'What does not add up, until somebody decides',
  verbs: { list, resolve },
};
