import { isOpen } from '../../domain/payments/payment.ts';
import type { PaymentSummary } from '../../domain/payments/payment-summary.ts';
import type { PaymentFile } from '../../domain/support/payment-file.ts';
import { pathTo } from '../routes.ts';
import { Money } from '../shell/money.tsx';
import { PaymentLink } from '../shell/payment-link.tsx';
import { RevealForm } from '../shell/reveal.tsx';
import { StatusBadges } from '../shell/status.tsx';
import { Time } from '../shell/time.tsx';
import { LIFTED, VEILED, type Veil } from '../shell/veil.ts';
import type { Visit } from '../visit.ts';
import { Actions } from './actions-view.tsx';
import { Facts } from './facts.tsx';
import { timelineOf } from './timeline.ts';
import { nameOf, nextWords, summaryFor } from './words.ts';

interface Shown {
  visit: Visit;
  file: PaymentFile;
}

/** The page of a payment. While it moves, it refreshes itself. Revealed data stays as it is. */
export function PaymentPage({ isRevealed = false, ...shown }: Shown & { isRevealed?: boolean }) {
  return (
    <div id="live">{isRevealed ? <Content {...shown} veil={LIFTED} /> : <Live {...shown} />}</div>
  );
}

/** What refreshes itself. When nothing more can happen, it comes without the poller. */
export function Live({ visit, file }: Shown) {
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
        <Facts payment={payment} veil={veil} />
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
