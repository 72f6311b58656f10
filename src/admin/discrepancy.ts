import type { Transaction } from '../connections/database.ts';
import type { DiscrepancyKind } from '../domain/discrepancies/discrepancy.ts';
import { OperatorRefusal } from '../domain/operator-refusal.ts';
import { lockPayment, type PaymentRef } from '../domain/payments/payment-store.ts';
import { type DiscrepancyCase, findCase, listCases } from '../domain/support/discrepancy-cases.ts';
import { type JournalRow, journalsOf } from '../domain/support/payment-file.ts';
import { RESOLUTIONS } from '../domain/support/resolution.ts';
import { type Decision, resolveDiscrepancy } from '../domain/support/resolve-discrepancy.ts';
import { type Answer, changes, flag, optional, reads, required, UsageError } from './command.ts';
import {
  discrepancyDocument,
  discrepancyList,
  journalDocument,
  KIND_WORDS,
} from './discrepancy-view.ts';
import { answerList, limitOption } from './lists.ts';
import { amountOrNull } from './merchant-view.ts';
import { fields } from './output.ts';
import { merchantId, oneOf, text, uuid } from './readers.ts';

const MAX_RECEIPT_LENGTH = 100;
const kinds = Object.keys(KIND_WORDS) as DiscrepancyKind[];

const list = reads({
  summary: 'Lists what does not add up, oldest first, with what can be decided',
  options: {
    kind: optional(oneOf(kinds), 'Only those of this kind'),
    merchant: optional(merchantId, 'Only those of this merchant'),
    resolved: flag('Those that are resolved, instead of those that are open'),
    after: optional(uuid, 'Begin after this one'),
    limit: limitOption,
  },
  run: ({ database }, { kind, merchant, resolved, after, limit }) =>
    answerList(discrepancyList, limit, (count) =>
      listCases(database, { open: !resolved, kind, merchant_id: merchant, after, limit: count }),
    ),
});

const resolve = changes({
  summary: 'Decides about a discrepancy, with everything that follows from it',
  notes: [
    'completed: the payment is complete. accept-amount: likewise, with the amount that moved.',
    'failed: the payment has failed; money that went out all the same is lost to the operator.',
    'returned: the money goes, or has come, back. dismissed: there is nothing to do.',
    'discrepancy list shows which of these can be, and docs/support.md what each does.',
  ],
  options: {
    discrepancy: required(uuid, 'Which one'),
    as: required(oneOf(RESOLUTIONS), 'How'),
    'trans-id': optional(
      text('RECEIPT', MAX_RECEIPT_LENGTH),
      'The receipt of an overdue payment that has completed, where it is known',
    ),
  },
  argument: 'discrepancy',
  check: (values) => {
    if (values['trans-id'] === undefined || values.as === 'completed') return;
    throw new UsageError(
      '--trans-id is the receipt of what has completed: use it with --as completed',
    );
  },
  run: async ({ service, actor, reason, audited }, values) => {
    const { commissionDefaults, pollFirstMs } = service.config;
    const decision = { as: values.as, actor, reason, transId: values['trans-id'] ?? null };
    const done = await audited(async (trx) => {
      const value = await decide(trx, values.discrepancy, decision, {
        commissionDefaults,
        pollFirstMs,
      });
      return { value, audit: auditOf(value, decision) };
    });
    return answer(done);
  },
});

/** A decision that was carried out. */
interface Done {
  before: DiscrepancyCase;
  after: DiscrepancyCase;
  /** What was booked by it. */
  booked: JournalRow[];
}

async function decide(
  trx: Transaction,
  id: string,
  decision: Decision,
  options: Parameters<typeof resolveDiscrepancy>[3],
): Promise<Done> {
  const found = await findCase(trx, id);
  if (!found) throw new OperatorRefusal(`There is no discrepancy ${id}`);
  const ref = paymentOf(found);
  // Locked before it is read, so that nothing else counts as done by this.
  if (ref) await lockPayment(trx, ref);
  const before = (await findCase(trx, id))!;
  const known = new Set(ref && (await journalsOf(trx, ref)).map((journal) => journal.id));
  await resolveDiscrepancy(trx, id, decision, options);
  const journals = ref ? await journalsOf(trx, ref) : [];
  return {
    before,
    after: (await findCase(trx, id))!,
    booked: journals.filter((journal) => !known.has(journal.id)),
  };
}

function paymentOf(found: DiscrepancyCase): PaymentRef | null {
  const { payment_kind: kind, merchant_id: merchantId, payment_id: id } = found;
  return kind === null || merchantId === null || id === null
    ? null
    : { kind, merchant_id: merchantId, id };
}

function auditOf({ before, after, booked }: Done, { as, transId }: Decision) {
  return {
    merchant_id: before.merchant_id,
    subject: `discrepancy ${before.id}`,
    details: {
      kind: before.kind,
      resolution: as,
      payment: before.payment_kind && `${before.payment_kind} ${before.payment_id}`,
      status: { from: before.status, to: after.status },
      ...(transId && { trans_id: transId }),
      journals: booked.map(journalDocument),
    },
  };
}

function answer({ before, after, booked }: Done): Answer {
  const journals = booked.map(journalDocument);
  const payment = before.status && `${before.payment_kind} ${before.ref_no ?? before.payment_id}`;
  const amount = amountOrNull(after.asked_cents);
  return {
    data: { ...discrepancyDocument(after), previous_status: before.status, booked: journals },
    lines: [
      `Discrepancy ${after.id} (${after.kind}) is resolved as ${after.resolution}`,
      ...(payment
        ? fields({
            payment,
            status:
              before.status === after.status
                ? `${after.status}, as before`
                : `${after.status}, was ${before.status}`,
            amount: amount ?? '-',
          })
        : []),
      ...(journals.length === 0 ? ['  nothing was booked'] : []),
      ...journals.flatMap(({ kind, entries }) =>
        entries.map(({ account, amount: cents }) => `  booked (${kind}): ${account} ${cents}`),
      ),
    ],
  };
}

export const discrepancyVerbs = { list, resolve };
