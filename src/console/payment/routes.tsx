import { pathTo } from '../routes.ts';
import { actionHandlers } from '../shell/action.ts';
import type { Answer, Visit } from '../visit.ts';
import { ask, PAYMENT, replay, resend } from './actions.ts';
import { fileOf } from './query.ts';
import { recordPaymentView } from './seen.ts';
import { Live, PaymentPage } from './view.tsx';
import { nameOf } from './words.ts';

/** The page of a payment, its live part, and what can be done about it. */
export const paymentHandlers = {
  payment: async (visit: Visit): Promise<Answer> => {
    const file = await fileOf(visit);
    await recordPaymentView(visit, file, { isNew: true });
    return { page: <PaymentPage visit={visit} file={file} />, title: nameOf(file.payment) };
  },

  paymentLive: async (visit: Visit): Promise<Answer> => {
    const file = await fileOf(visit);
    await recordPaymentView(visit, file);
    return { part: <Live visit={visit} file={file} /> };
  },

  /** Shows personal data for this one time. */
  paymentReveal: async (visit: Visit): Promise<Answer> => {
    const file = await fileOf(visit);
    await recordPaymentView(visit, file, { isNew: true, action: 'payment.reveal' });
    const page = <PaymentPage visit={visit} file={file} isRevealed />;
    return { page, title: nameOf(file.payment) };
  },

  /** Whoever reloads a revealed page sees the payment veiled. */
  paymentRevealed: async ({ params }: Visit): Promise<Answer> => ({
    goTo: pathTo('payment', params),
  }),

  ...actionHandlers('paymentAsk', PAYMENT, () => ask),
  ...actionHandlers('paymentReplay', PAYMENT, () => replay),
  ...actionHandlers('paymentResend', PAYMENT, () => resend),
};
