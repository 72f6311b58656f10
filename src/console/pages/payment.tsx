import type { ComponentChildren } from 'preact';
import { channelByCode } from '../../domain/channels/channel.ts';
import { DISCREPANCY_KINDS } from '../../domain/discrepancies/discrepancy.ts';
import { isOpen } from '../../domain/payments/payment.ts';
import { type AnyPayment, accountOf } from '../../domain/payments/payment-store.ts';
import type { PaymentSummary } from '../../domain/payments/payment-summary.ts';
import { whyNotAsked } from '../../domain/support/ask-now.ts';
import { isDoubtable, isUpholding } from '../../domain/support/doubt-payment.ts';
import type { FailedJob } from '../../domain/support/failed-job-store.ts';
import type { PaymentFile, Row } from '../../domain/support/payment-file.ts';
import { LIFTED, VEILED, type Veil } from '../../domain/veil.ts';
import { findWebhook, type Webhook } from '../../domain/webhooks/webhook-file.ts';
import { replayOne } from '../../operations/job.ts';
import { askAboutPayment, askAboutReceipt, doubtPayment } from '../../operations/payment.ts';
import { resendWebhook } from '../../operations/webhook.ts';
import { factsAbout } from '../../records/payments.ts';
import type { Fact } from '../../records/record.ts';
import { mayUse, pathTo, type RouteName } from '../routes.ts';
import { Facts, MerchantLink, Money, PaymentLink, Time } from '../shell/links.tsx';
import { operationHandlers, pagesOf, type Resource } from '../shell/operation.tsx';
import { RevealForm } from '../shell/reason-form.tsx';
import { StatusBadges } from '../shell/status.tsx';
import { type Answer, ConsoleError, type Visit } from '../visit.ts';
import { type FileWithRequests, fileOf, recordPaymentView, refIn } from './payment-file.tsx';
import { nameOf, nextWords, summaryFor, timelineOf } from './payment-timeline.ts';

const PAYMENT: Resource<AnyPayment> = {
  find: async (visit) => (await fileOf(visit)).payment,
  recordView: (visit, payment) => recordPaymentView(visit, { payment }),
  nameOf,
  pathOf: (payment) => pathTo('payment', { ...payment }),
};

/** A failed job of the payment that the address names. */
const FAILED_JOB: Resource<FailedJob> = {
  find: async (visit) => {
    const { failedJobs } = await fileOf(visit);
    const job = failedJobs.find(({ id }) => String(id) === visit.params.job);
    if (job) return job;
    throw new ConsoleError(404, 'This payment has no such failed job');
  },
  recordView: (visit) => recordPaymentView(visit, { payment: refIn(visit) }),
  nameOf: ({ error, payment_kind, payment_id }) =>
    `A job of the ${payment_kind} ${payment_id} that failed with: ${VEILED.text(error)}`,
  pathOf: pathOfPayment,
};

/** A webhook about the payment that the address names. */
const WEBHOOK: Resource<Webhook> = {
  find: async (visit) => {
    const { events } = await fileOf(visit);
    const { webhook = '' } = visit.params;
    const isKnown = events.some(({ id }) => id === webhook);
    const found = isKnown && (await findWebhook(visit.service.database, webhook));
    if (found) return found;
    throw new ConsoleError(404, 'This payment has no such webhook');
  },
  recordView: (visit) => recordPaymentView(visit, { payment: refIn(visit) }),
  nameOf: ({ type }) => `The webhook ${type}`,
  pathOf: pathOfPayment,
};

function pathOfPayment(of: Pick<FailedJob, 'payment_kind' | 'merchant_id' | 'payment_id'>): string {
  const { payment_kind: kind, merchant_id, payment_id: id } = of;
  return pathTo('payment', { kind, merchant_id, id });
}

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

  /** A reload of a revealed page shows the payment veiled. */
  paymentRevealed: async ({ params }: Visit): Promise<Answer> => ({
    goTo: pathTo('payment', params),
  }),

  ...operationHandlers('paymentAsk', {
    resource: PAYMENT,
    pages: pagesOf([askAboutPayment]),
    part: 'ask',
  }),
  ...operationHandlers('paymentAskReceipt', {
    resource: PAYMENT,
    pages: pagesOf([askAboutReceipt]),
    part: 'ask-receipt',
  }),
  ...operationHandlers('paymentDoubt', {
    resource: PAYMENT,
    pages: pagesOf([doubtPayment]),
    part: 'doubt',
  }),
  ...operationHandlers('paymentReplay', {
    resource: FAILED_JOB,
    pages: pagesOf([replayOne]),
    part: 'replay',
  }),
  ...operationHandlers('paymentResend', {
    resource: WEBHOOK,
    pages: pagesOf([resendWebhook]),
    part: 'resend',
  }),
};

interface Shown {
  visit: Visit;
  file: FileWithRequests;
}

/** The page of a payment. While it moves, it refreshes itself. Revealed data stays as it is. */
function PaymentPage({ isRevealed = false, ...shown }: Shown & { isRevealed?: boolean }) {
  return (
    <div id="live">{isRevealed ? <Content {...shown} veil={LIFTED} /> : <Live {...shown} />}</div>
  );
}

/** The part of the page that refreshes. It stops polling when the payment cannot change any more. */
function Live({ visit, file }: Shown) {
  const { payment, steps, events } = file;
  // An event without a delivery is about to get one.
  const isUntold = events.some(({ status }) => status === null);
  const isMoving = isOpen(payment) || steps.length > 0 || isUntold;
  return (
    <>
      {isMoving && (
        <div
          id="poller"
          hx-get={pathTo('paymentLive', { ...payment })}
          hx-trigger="every 2s"
          hx-target="#live"
          hx-swap="innerMorph"
        />
      )}
      <Content visit={visit} file={file} veil={VEILED} />
    </>
  );
}

function Content({ visit, file, veil }: Shown & { veil: Veil }) {
  const { payment, related } = file;
  return (
    <>
      <h1>
        {nameOf(payment)} <StatusBadges {...payment} />
      </h1>
      <div class="cards">
        <section class="card">
          <h2>What happens next</h2>
          {nextWords(file).map((words) => (
            <p>{words}</p>
          ))}
        </section>
        <section class="card">
          <h2>For the merchant</h2>
          <p id="summary">{summaryFor(file, veil)}</p>
          <p class="buttons">
            <button type="button" class="quiet" data-copy="summary">
              Copy
            </button>
          </p>
        </section>
      </div>
      <Actions visit={visit} file={file} />
      <section class="card">
        <h2>The payment</h2>
        <PaymentFacts payment={payment} veil={veil} />
        {!veil.isLifted ? (
          <RevealForm visit={visit} route="paymentReveal" />
        ) : (
          <p class="note">
            Personal data is shown, and this page stands still.{' '}
            <a href={pathTo('payment', { ...payment })}>Hide it</a>
          </p>
        )}
      </section>
      {related.length > 0 && <Related related={related} />}
      <Timeline file={file} veil={veil} />
    </>
  );
}

function Related({ related }: { related: PaymentSummary[] }) {
  return (
    <section class="card">
      <h2>Related payments</h2>
      <ul>
        {related.map((payment) => (
          <li>
            <PaymentLink payment={payment} ref_no={payment.ref_no} /> <StatusBadges {...payment} />{' '}
            <Money cents={payment.amount_cents} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Timeline({ file, veil }: { file: PaymentFile; veil: Veil }) {
  return (
    <section class="card">
      <h2>What happened</h2>
      <ol class="timeline">
        {timelineOf(file, veil).map(({ at, source, what, details, tone }) => (
          <li class={tone}>
            <span class="soft">
              <Time at={at} /> {source}
            </span>
            <p>{what}</p>
            {details.map((line) => (
              <p class="hint">{line}</p>
            ))}
          </li>
        ))}
      </ol>
    </section>
  );
}

interface Offer {
  /** Why it is offered. */
  about: ComponentChildren;
  verb: string;
  route: RouteName;
  params: Record<string, unknown>;
}

/** Links to the possible actions. Each opens a page that says first what will happen. */
function Actions({ visit, file }: { visit: Visit; file: PaymentFile }) {
  const offers = offersOf(file).filter(({ route }) => mayUse(visit.member.role, route));
  if (offers.length === 0) return null;
  return (
    <section class="card">
      <h2>What you can do</h2>
      <ul class="offers">
        {offers.map(({ about, verb, route, params }) => (
          <li>
            <span>{about}</span>
            <a class="button" href={pathTo(route, { ...file.payment, ...params })}>
              {verb}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

function offersOf(file: PaymentFile): Offer[] {
  const { payment, discrepancies, failedJobs, events, history, movements } = file;
  const word = {
    lastCause: history.at(-1)?.cause,
    isUnsure: movements.some(({ booked, is_unsure }) => booked === 'settled' && is_unsure === true),
    isUpheld: payment.status === 'completed' && discrepancies.some(isUpholding),
    isCleared:
      payment.kind !== 'collection' &&
      movements.some(({ booked }) => booked === 'returned' || booked === 'written_off'),
  };
  return [
    ...discrepancies
      .filter(({ resolved_at }) => resolved_at === null)
      .map(({ id, kind }) => ({
        about: `A discrepancy: ${DISCREPANCY_KINDS[kind]}`,
        ...({ verb: 'Open', route: 'discrepancy', params: { id } } as const),
      })),
    ...failedJobs
      .filter(({ state }) => state === 'waiting')
      .map(({ id, step, error }) => ({
        about: `A job failed for good (${step}): ${VEILED.text(error)}`,
        ...({ verb: 'Replay', route: 'paymentReplayForm', params: { job: id } } as const),
      })),
    ...(whyNotAsked(payment) === null
      ? [
          {
            about: 'The service goes on asking the gateway, and you can ask at once',
            ...({ verb: 'Ask now', route: 'paymentAskForm', params: {} } as const),
          },
        ]
      : []),
    ...(isDoubtable(payment, word)
      ? [
          {
            about: 'Support or a file has said how it ended, or that money came back or is lost',
            ...({ verb: 'Doubt it', route: 'paymentDoubtForm', params: {} } as const),
          },
        ]
      : []),
    ...events
      .filter(({ status }) => status !== null)
      .map((event) => ({
        about: <WebhookWords event={event} merchant_id={payment.merchant_id} />,
        ...({ verb: 'Resend', route: 'paymentResendForm', params: { webhook: event.id } } as const),
      })),
  ];
}

/** Says how a webhook stands, and whether its receiver works. */
function WebhookWords({ event, merchant_id }: { event: Row; merchant_id: number }) {
  const [type, status, attempts, endpoint] = ['type', 'status', 'attempts', 'endpoint'].map(
    (name) => String(event[name]),
  );
  return (
    <>
      The webhook <a href={pathTo('webhook', { id: event.id })}>{type}</a>
      {` is ${status} after ${attempts} attempts`}
      {event.is_held === true && (
        <>
          {'. Its receiver '}
          <a href={pathTo('endpoint', { merchant_id, endpoint })}>{endpoint}</a>
          {' is held'}
        </>
      )}
    </>
  );
}

/** The facts about a payment that the table of its record names. Unknown ones are left out. */
function PaymentFacts({ payment, veil }: { payment: AnyPayment; veil: Veil }) {
  return (
    <Facts
      facts={factsAbout(payment).map(
        (fact) => [fact.label, shownFact(namesPhone(fact, payment), veil)] as const,
      )}
    />
  );
}

const PHONE_DIGITS = 9;

/** A gateway may write the customer's phone into its reference: it is hidden like the phone. */
function namesPhone(fact: Fact, payment: AnyPayment): Fact {
  const phone = accountOf(payment).slice(-PHONE_DIGITS);
  const isInside = fact.kind === 'plain' && String(fact.value).includes(phone);
  return isInside && phone.length === PHONE_DIGITS ? { ...fact, kind: 'reference' } : fact;
}

function shownFact({ kind, value }: Fact, veil: Veil) {
  if (value === null || value instanceof Date) return value && <Time at={value} />;
  switch (kind) {
    case 'account':
      return veil.account(String(value));
    case 'text':
      return veil.text(String(value));
    case 'reference':
      return veil.numbers(String(value));
    case 'foreign':
      return veil.foreign(String(value));
    case 'money':
      return <Money cents={Number(value)} />;
    case 'merchant':
      return <MerchantLink merchant_id={Number(value)} />;
    case 'channel':
      return `${channelByCode(Number(value))?.name ?? 'Channel'} (${value})`;
    case 'plain':
      return String(value);
  }
}
