import { OperatorRefusal } from '../domain/errors.ts';
import { type AnyPayment, findPayment, refOf } from '../domain/payments/payment-store.ts';
import { PAYMENT_KINDS } from '../domain/payments/payment-summary.ts';
import { askNow, whyNotAsked } from '../domain/support/ask-now.ts';
import { findPayments } from '../domain/support/find-payments.ts';
import { optional, required } from './field.ts';
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
