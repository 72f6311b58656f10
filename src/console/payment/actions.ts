import { inTransaction } from '../../connections/database.ts';
import { OperatorRefusal } from '../../domain/errors.ts';
import { refOf } from '../../domain/payments/payment-store.ts';
import { askNow, whyNotAsked } from '../../domain/support/ask-now.ts';
import type { PaymentFile } from '../../domain/support/payment-file.ts';
import { planReplay } from '../../domain/support/replay-failed-job.ts';
import { replayJobs } from '../../domain/support/replay-jobs.ts';
import { REPLAY_REFUSAL_WORDS, REPLAY_WORDS } from '../../domain/support/replay-words.ts';
import { findWebhook } from '../../domain/webhooks/webhook-file.ts';
import { fileOf, recordPaymentView } from '../pages/payment-file.tsx';
import { nameOf } from '../pages/payment-timeline.ts';
import { pathTo } from '../routes.ts';
import type { Action, Resource } from '../shell/action.ts';
import { nairobiTime } from '../shell/links.tsx';
import { VEILED } from '../shell/veil.ts';
import { ConsoleError, type Visit } from '../visit.ts';
import { performResend, previewResend } from '../webhook-endpoints/resend.ts';

/** The payment that the pages under its address are about. */
export const PAYMENT: Resource<PaymentFile> = {
  find: fileOf,
  recordView: (visit, file) => recordPaymentView(visit, file),
  nameOf: ({ payment }) => nameOf(payment),
  pathOf: ({ payment }) => pathTo('payment', { ...payment }),
};

/** Asks the gateway at once how a payment ended. */
export const ask: Action<PaymentFile> = {
  ...{ action: 'payment.ask', title: 'Ask the gateway now', verb: 'Ask now' },
  whyNot: ({ payment }) => whyNotAsked(payment),
  preview: (_visit, { payment }) => [
    `The question that is planned for ${nairobiTime(payment.next_step_at!)} goes out now.`,
    'It moves no money, and nothing is sent again.',
    'If the gateway gives its definite word, the payment ends by it.',
  ],
  perform: async (_visit, { payment }, { audited }) => {
    await askNow(audited, refOf(payment));
  },
};

/** Gives the row of a failed job the step that is right for it now. */
export const replay: Action<PaymentFile> = {
  ...{ action: 'jobs.replay', title: 'Replay a failed job', verb: 'Replay' },
  preview: async (visit, file) => {
    const job = jobIn(visit, file);
    const plan = await inTransaction(visit.service.database, (trx) => planReplay(trx, job));
    if (plan.action === undefined) throw new OperatorRefusal(REPLAY_REFUSAL_WORDS[plan.refusal]);
    return [
      `The job failed with: ${VEILED.text(job.error)}`,
      `Its replay: ${REPLAY_WORDS[plan.action]}.`,
      'The next step is decided anew at that moment. What may have arrived at the gateway is never sent again.',
    ];
  },
  perform: async (visit, file, { audited }) => {
    const order = { jobs: [jobIn(visit, file)], isDryRun: false, rate: 1, stopAfter: 1 };
    const operator = { actor: visit.member.email, audited };
    const { replays, stoppedBy } = await replayJobs(visit.service.database, operator, order);
    if (stoppedBy !== null && stoppedBy !== 'failed again') throw stoppedBy.error;
    const [done] = replays;
    if (done?.refusal) throw new OperatorRefusal(REPLAY_REFUSAL_WORDS[done.refusal]);
  },
};

/** Lets a webhook go out again. */
export const resend: Action<PaymentFile> = {
  ...{ action: 'webhooks.resend', title: 'Resend a webhook', verb: 'Resend' },
  preview: async (visit, file) => {
    const webhook = (await findWebhook(visit.service.database, webhookIn(visit, file)))!;
    return previewResend(webhook);
  },
  perform: async (visit, file, { audited }) => {
    await performResend(audited, webhookIn(visit, file));
  },
};

function jobIn({ params }: Visit, { failedJobs }: PaymentFile) {
  const job = failedJobs.find(({ id }) => String(id) === params.job);
  if (!job) throw new ConsoleError(404, 'This payment has no such failed job');
  return job;
}

function webhookIn({ params }: Visit, { events }: PaymentFile): string {
  const event = events.find(({ id }) => id === params.webhook);
  if (!event) throw new ConsoleError(404, 'This payment has no such webhook');
  return String(event.id);
}
