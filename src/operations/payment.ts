import { OperatorRefusal } from '../domain/errors.ts';
import { type AnyPayment, findPayment, refOf } from '../domain/payments/payment-store.ts';
import { PAYMENT_KINDS } from '../domain/payments/payment-summary.ts';
import { askNow, whyNotAsked } from '../domain/support/ask-now.ts';
import { doubtPayment as doubt, refuseDoubt } from '../domain/support/doubt-payment.ts';
import { findPayments } from '../domain/support/find-payments.ts';
import { askReceipt, receiptQuestionOf } from '../service/ask-receipt.ts';
import { type Field, optional, required } from './field.ts';
import { define, type Noun } from './operation.ts';
import * as read from './readers.ts';

const MAX_REFERENCE_LENGTH = 200;

/** Narrows a search to payments of one merchant, or of one kind. */
export const narrowing = {
  merchant_id: read.ofMerchant,
  kind: optional('kind', read.oneOf(PAYMENT_KINDS), 'Only those of this kind'),
};

/** Names a payment by anything that people know of it. */
export const payment = {
  what: required(
    'what',
    read.text('WHAT', MAX_REFERENCE_LENGTH),
    'Something that names the payment',
  ),
  ...narrowing,
};

const PAYMENT: Noun<AnyPayment> = {
  fields: payment,
  argument: 'what',
  find: async ({ database }, search) => {
    const what = String(search.what);
    const [hit, other] = await findPayments(database, { ...search, what, limit: 2 });
    if (hit && !other) return (await findPayment(database, hit))!;
    const named = JSON.stringify(what);
    throw new OperatorRefusal(
      hit
        ? `Several payments are known by ${named}: say which with --merchant, --kind or its id`
        : `No payment is known by ${named}`,
    );
  },
};

/** Asks the gateway at once how a payment ended. */
export const askAboutPayment = define<AnyPayment, Record<never, never>>({
  name: 'payment.ask',
  role: 'support',
  title: 'Ask the gateway now',
  button: 'Ask now',
  summary: 'Brings the next question about a payment to its gateway forward to now',
  notes: 'It moves no money, and nothing is sent again. payment show says what WHAT may be.',
  about: PAYMENT,
  fields: {},
  whyNot: whyNotAsked,
  preview: ({ subject, time }) => [
    `The question that is planned for ${time(subject.next_step_at!)} goes out now.`,
    'It moves no money, and nothing is sent again.',
    'If the gateway gives its definite word, the payment ends by it.',
  ],
  perform: async ({ audited, subject }) => {
    const ref = refOf(subject);
    await askNow(audited, ref);
    return { title: `The gateway is asked now about the ${ref.kind} ${ref.id}`, more: ref };
  },
});

/**
 * Asks the gateway about a receipt that somebody has given for a payment. The answer settles nothing:
 * it is compared when support completes the payment with the receipt.
 */
export const askAboutReceipt = define<AnyPayment, { trans_id: Field<string> }>({
  name: 'payment.ask-receipt',
  role: 'support',
  title: 'Ask the gateway about a receipt',
  button: 'Ask about it',
  summary: 'Asks the gateway whose a receipt is, before support completes a payment with it',
  notes:
    'It moves no money and settles nothing. The answer comes within minutes. discrepancy resolve then compares it: the same amount with the phone or the reference proves the receipt, others refuse it.',
  about: PAYMENT,
  fields: {
    trans_id: required('trans-id', read.receipt, 'The receipt', {
      label: 'Receipt',
    }),
  },
  preview: ({ service, subject }) => {
    receiptQuestionOf(service, subject);
    return [
      'The gateway is asked whose the receipt is. Its answer comes within minutes.',
      'It moves no money and settles nothing. Decide the discrepancy after the answer.',
    ];
  },
  perform: async ({ audited, service, subject }, { trans_id: receipt }) => {
    await askReceipt(service, audited, subject, receipt);
    return { title: `The gateway is asked about the receipt ${receipt}`, more: refOf(subject) };
  },
});

/** Doubts what support or a file has said of a payment's end. Its discrepancy then offers to undo it. */
export const doubtPayment = define<AnyPayment, Record<never, never>>({
  name: 'payment.doubt',
  role: 'support',
  title: 'Doubt the word of people',
  button: 'Doubt it',
  summary: 'Puts a payment that support or a file has ended on the list of discrepancies',
  notes: 'It changes nothing else. Decide its discrepancy (doubted) as undo or dismissed then.',
  about: PAYMENT,
  fields: {},
  preview: async ({ service, subject }) => {
    await refuseDoubt(service.database, subject);
    return [
      `Support or a file has said that it has ${subject.status}. That is put on the list of discrepancies.`,
      'No money moves. To take the word back, decide the discrepancy as undo.',
    ];
  },
  perform: async ({ audited, subject, actor, reason }) => {
    const ref = refOf(subject);
    await doubt(audited, ref, { actor, reason });
    return { title: `The end of the ${ref.kind} ${ref.id} is doubted`, more: ref };
  },
});
