import { isOpen } from '../../domain/payments/payment.ts';
import type { AnyPayment } from '../../domain/payments/payment-store.ts';
import { accountOf } from '../../domain/payments/payment-store.ts';
import type { PaymentSummary } from '../../domain/payments/payment-summary.ts';
import type { PaymentFile } from '../../domain/support/payment-file.ts';
import { mayUse, pathTo } from '../routes.ts';
import { Token } from '../shell/form.tsx';
import { Money } from '../shell/money.tsx';
import { StatusBadges } from '../shell/status.tsx';
import { Time } from '../shell/time.tsx';
import { LIFTED, VEILED, type Veil } from '../shell/veil.ts';
import type { Visit } from '../visit.ts';
import { Actions } from './actions-view.tsx';
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
  const { payment, steps } = file;
  const isMoving = isOpen(payment) || steps.length > 0;
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
        {!veil.isLifted && mayUse(visit.member.role, 'paymentReveal') && (
          <form method="post" action={pathTo('paymentReveal', { ...payment })}>
            <Token visit={visit} />
            <p class="buttons">
              <button type="submit" class="quiet">
                Reveal personal data
              </button>
              <span class="hint">The audit log keeps that you did</span>
            </p>
          </form>
        )}
        {veil.isLifted && (
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

function Facts({ payment, veil }: { payment: AnyPayment; veil: Veil }) {
  const { kind, merchant_id, amount_cents, channel, gateway, reference } = payment;
  const { trans_id, external_ref, created_at, deadline_at, id } = payment;
  return (
    <dl>
      <dt>Amount</dt>
      <dd>
        <Money cents={amount_cents} />
      </dd>
      <dt>{kind === 'collection' ? 'From' : 'To'}</dt>
      <dd>{veil.account(accountOf(payment))}</dd>
      <dt>Merchant</dt>
      <dd>
        <a href={`${pathTo('search')}?merchant=${merchant_id}`}>{merchant_id}</a>
      </dd>
      <dt>Channel</dt>
      <dd>
        {channel}, by {gateway}
      </dd>
      <dt>Id</dt>
      <dd>{id}</dd>
      <dt>Our reference</dt>
      <dd>{reference}</dd>
      <dt>Gateway’s reference</dt>
      <dd>{external_ref ?? 'not known'}</dd>
      <dt>Receipt</dt>
      <dd>{trans_id ?? 'none'}</dd>
      <dt>Asked for</dt>
      <dd>
        <Time at={created_at} />
      </dd>
      <dt>Deadline</dt>
      <dd>
        <Time at={deadline_at} />
      </dd>
    </dl>
  );
}

function Related({ related }: { related: PaymentSummary[] }) {
  return (
    <section class="card">
      <h2>Related payments</h2>
      <ul>
        {related.map((payment) => (
          <li>
            <a href={pathTo('payment', { ...payment })}>
              {payment.kind} {payment.ref_no ?? payment.id}
            </a>{' '}
            <StatusBadges {...payment} /> <Money cents={payment.amount_cents} />
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
