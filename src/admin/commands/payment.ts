import { OperatorRefusal } from '../../domain/errors.ts';
import type { PaymentSummary } from '../../domain/payments/payment-summary.ts';
import { findPayments } from '../../domain/support/find-payments.ts';
import { readPaymentFile } from '../../domain/support/payment-file.ts';
import { kenyanMobileIn } from '../../domain/text.ts';
import { findJobs } from '../../jobs/queue-reader.ts';
import {
  askAboutPayment,
  askAboutReceipt,
  doubtPayment,
  payment,
} from '../../operations/payment.ts';
import { verbsOf } from '../operation-verb.ts';
import { fileAnswer } from '../output/payment-file.ts';
import { payments } from '../output/payments.ts';
import { table } from '../output/table.ts';
import { type Answer, type Noun, reads } from '../verb.ts';
import { list } from './payment-list.ts';
import { loadQueueBackend } from './queues.ts';

/** A search with more hits must be narrowed anyway. */
const MAX_HITS = 100;

const show = reads({
  role: 'support',
  summary: 'Shows everything about one payment, or lists those that match',
  notes:
    'WHAT is a ref_no, an id, our reference at the gateway, a receipt of the network, a reference of the gateway, the webhook-id of a notification, or the phone on the other side in any usual form. Write --what=-… for one that begins with a dash.',
  options: payment,
  argument: 'what',
  run: async (service, search) => {
    const { database } = service;
    const hits = await findPayments(database, { ...search, limit: MAX_HITS + 1 });
    const [hit] = hits;
    if (!hit) throw new OperatorRefusal(`No payment is known by ${JSON.stringify(search.what)}`);
    if (hits.length > 1) return several(hits, search.what);
    const file = (await readPaymentFile(database, hit))!;
    return fileAnswer(file, await findJobs(await loadQueueBackend(service), file.steps));
  },
});

function several(hits: PaymentSummary[], what: string): Answer {
  const shown = hits.slice(0, MAX_HITS);
  const more = hits.length > MAX_HITS;
  const title = more
    ? `It may be one of more than ${MAX_HITS} payments; say which with --merchant or --kind:`
    : `It may be one of ${shown.length} payments; say which with --merchant, --kind or its id:`;
  const phone = more ? kenyanMobileIn(what) : undefined;
  return {
    data: { payments: shown.map(payments.document), more },
    count: shown.length,
    lines: [
      title,
      table(shown, payments.columns),
      phone !== undefined &&
        `Older ones of this phone: payment list --phone ${phone} --after ${shown.at(-1)!.id}`,
    ],
  };
}

export const paymentNoun: Noun = {
  summary: 'Payments of all merchants, for support',
  verbs: { list, show, ...verbsOf([askAboutPayment, askAboutReceipt, doubtPayment]) },
};
