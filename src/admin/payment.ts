import { OperatorRefusal } from '../domain/operator-refusal.ts';
import { PAYMENT_KINDS } from '../domain/payments/payment-summary.ts';
import { findPayments } from '../domain/support/find-payments.ts';
import { listForSupport } from '../domain/support/list-for-support.ts';
import { readPaymentFile } from '../domain/support/payment-file.ts';
import { type Answer, flag, optional, reads, required } from './command.ts';
import { answerList, limitOption } from './lists.ts';
import { fileDocument, fileLines, paymentList } from './payment-view.ts';
import { merchantId, oneOf, text, uuid } from './readers.ts';

const MAX_REFERENCE_LENGTH = 200;
/** Whoever gets more than this has to narrow it anyway. */
const MAX_HITS = 100;

const narrowing = {
  merchant: optional(merchantId, 'Only those of this merchant'),
  kind: optional(oneOf(PAYMENT_KINDS), 'Only those of this kind'),
};

const list = reads({
  summary: 'Lists the payments that need support: parked or overdue, oldest first',
  options: {
    ...narrowing,
    parked: flag('Only those that do not go on by themselves'),
    overdue: flag('Only those that have not ended in time'),
    after: optional(uuid, 'Begin after this one'),
    limit: limitOption,
  },
  run: ({ database }, { merchant, limit, ...filter }) =>
    answerList(paymentList, limit, (count) =>
      listForSupport(database, { ...filter, merchant_id: merchant, limit: count }),
    ),
});

const show = reads({
  summary: 'Shows everything about one payment, or lists those that it may be',
  notes: [
    'WHAT is a ref_no, an id, a receipt of the network, a reference of the gateway, or the',
    'webhook-id of a notification. One that begins with a dash is given as --what=-…',
  ],
  options: {
    what: required(text('WHAT', MAX_REFERENCE_LENGTH), 'What is known of the payment'),
    ...narrowing,
  },
  argument: 'what',
  run: async ({ database }, { what, merchant, kind }): Promise<Answer> => {
    const search = { what, merchant_id: merchant, kind };
    const hits = await findPayments(database, { ...search, limit: MAX_HITS + 1 });
    const [hit] = hits;
    if (!hit) throw new OperatorRefusal(`No payment is known by ${JSON.stringify(what)}`);
    if (hits.length > 1) return several(hits);
    const ref = { kind: hit.kind, merchant_id: hit.merchant_id, id: hit.id };
    const file = await readPaymentFile(database, ref);
    return { data: fileDocument(file!), lines: fileLines(file!) };
  },
});

async function several(hits: Awaited<ReturnType<typeof findPayments>>): Promise<Answer> {
  const shown = hits.slice(0, MAX_HITS);
  const { data, lines } = await answerList(paymentList, MAX_HITS, async () => shown);
  const { payments } = data;
  const more = hits.length > MAX_HITS;
  return {
    data: { payments, more },
    lines: [
      more
        ? `It may be one of more than ${MAX_HITS} payments; say which with --merchant or --kind:`
        : `It may be one of ${shown.length} payments; say which with --merchant, --kind or its id:`,
      ...lines.slice(0, -1),
    ],
  };
}

export const paymentVerbs = { list, show };
