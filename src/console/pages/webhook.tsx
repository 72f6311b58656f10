import { validate as isUuid } from 'uuid';
import { LIFTED, VEILED, type Veil } from '../../domain/veil.ts';
import type { DeliveryStatus } from '../../domain/webhooks/list-deliveries.ts';
import { nextWords } from '../../domain/webhooks/next-words.ts';
import {
  findWebhook,
  type Webhook,
  type WebhookAttempt,
} from '../../domain/webhooks/webhook-file.ts';
import { recordView } from '../access/audit.ts';
import { mayUse, pathTo } from '../routes.ts';
import { nairobiTime, PaymentLink, Time } from '../shell/links.tsx';
import { RevealForm } from '../shell/reason-form.tsx';
import { Badge, type Tone } from '../shell/status.tsx';
import { type Column, Empty, Table } from '../shell/table.tsx';
import { ConsoleError, type Visit } from '../visit.ts';

/** Reads the webhook that the address names. @throws ConsoleError without one */
export async function webhookIn({ service, params: { id = '' } }: Visit): Promise<Webhook> {
  const found = isUuid(id) ? await findWebhook(service.database, id) : undefined;
  if (!found) throw new ConsoleError(404, 'There is no such webhook. Look for it with the search');
  return found;
}

export async function recordWebhookView(
  visit: Visit,
  { id, merchant_id }: Webhook,
  action = 'webhooks.show',
): Promise<void> {
  const read = { action, subject: `webhooks ${id}`, merchant_id, lookedFor: {}, rows: 1 };
  await recordView(visit, read);
}

const TONES: Readonly<Record<DeliveryStatus, Tone>> = {
  pending: 'plain',
  delivered: 'good',
  exhausted: 'bad',
  stopped: 'bad',
};

interface WebhookProps {
  visit: Visit;
  webhook: Webhook;
  attempts: WebhookAttempt[];
  isRevealed: boolean;
}

/** One webhook: what it says, where it goes, every attempt, and what comes next. */
export function WebhookPage({ visit, webhook, attempts, isRevealed }: WebhookProps) {
  const { id, status } = webhook;
  const { role } = visit.member;
  const veil = isRevealed ? LIFTED : VEILED;
  return (
    <>
      <h1>
        Webhook {id}{' '}
        <Badge tone={status ? TONES[status] : 'plain'} words={status ?? 'not numbered yet'} />
      </h1>
      <section class="card">
        <Facts webhook={webhook} veil={veil} />
        <p class="buttons">
          {mayUse(role, 'webhookResendForm') && (
            <a class="button" href={pathTo('webhookResendForm', { id })}>
              Resend
            </a>
          )}
        </p>
      </section>
      <h2>Body</h2>
      <pre>{isRevealed ? webhook.body : veiledBody(webhook.body)}</pre>
      {!isRevealed && <RevealForm visit={visit} route="webhookReveal" />}
      <h2>Attempts</h2>
      {attempts.length === 0 ? (
        <Empty>There was none yet, or the time to keep them is over.</Empty>
      ) : (
        <Table rows={attempts} columns={columnsFor(veil)} caption="Attempts, oldest first" />
      )}
    </>
  );
}

function Facts({ webhook, veil }: { webhook: Webhook; veil: Veil }) {
  const isRevealed = veil.isLifted;
  const { merchant_id, payment_kind: kind, payment_id, ref_no, endpoint } = webhook;
  return (
    <dl>
      <dt>Next attempt</dt>
      <dd>{nextWords(webhook, { moment: nairobiTime, text: veil.text })}</dd>
      <dt>Says</dt>
      <dd>
        {webhook.type} of{' '}
        <PaymentLink payment={{ kind, merchant_id, id: payment_id }} ref_no={ref_no} />
        {webhook.change_no > 1 && ', and corrects what was told before'}
      </dd>
      <dt>Merchant</dt>
      <dd>
        {webhook.merchant_name} ({merchant_id}), app {webhook.app_name} ({webhook.app_code})
      </dd>
      <dt>Goes to</dt>
      <dd>
        <a href={pathTo('endpoint', { merchant_id, endpoint })}>{endpoint}</a>
        {isRevealed ? pathOf(webhook.callback_url) : '/…'}
      </dd>
      <dt>Number</dt>
      <dd>{webhook.sequence ?? 'none yet'}</dd>
      <dt>Event at</dt>
      <dd>
        <Time at={webhook.created_at} />
      </dd>
      <dt>Taken at</dt>
      <dd>{webhook.delivered_at ? <Time at={webhook.delivered_at} /> : 'not yet'}</dd>
    </dl>
  );
}

/** A merchant may have put a key of its own into the query. */
function pathOf(callbackUrl: string): string {
  const { pathname, search } = new URL(callbackUrl);
  return `${pathname}${search && '?…'}`;
}

/** Hides the account and what may be numbers of people: a gateway's reference may end with a phone. */
function veiledBody(body: string): string {
  const hidden = (name: string, value: unknown) => {
    if (typeof value !== 'string') return value;
    if (name === 'account') return VEILED.account(value);
    return name.endsWith('description') ? VEILED.text(value) : VEILED.numbers(value);
  };
  return JSON.stringify(JSON.parse(body), hidden, 2);
}

const columnsFor = (veil: Veil): Column<WebhookAttempt>[] => [
  { heading: 'No.', cell: ({ attempt_no }) => attempt_no, isNumber: true },
  { heading: 'At', cell: ({ attempted_at }) => <Time at={attempted_at} /> },
  {
    heading: 'Result',
    cell: ({ response_status, error }) =>
      response_status === null ? veil.text(error ?? '') : `answered ${response_status}`,
  },
  { heading: 'Took', cell: ({ duration_ms }) => `${duration_ms} ms`, isNumber: true },
  {
    heading: 'Answer',
    cell: ({ answer }) => (answer ? <code>{veil.foreign(answer)}</code> : null),
  },
];
