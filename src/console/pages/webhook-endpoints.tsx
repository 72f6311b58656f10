import { DEFAULT_ZONE, startOfDay } from '../../domain/period.ts';
import { VEILED } from '../../domain/veil.ts';
import {
  type ListedDelivery,
  listDeliveries,
  UNDELIVERED,
} from '../../domain/webhooks/list-deliveries.ts';
import {
  ENDPOINT_STATES,
  type EndpointKey,
  type EndpointState,
  listAllEndpoints,
  MAX_WAITING_COUNTED,
  type SupportEndpoint,
} from '../../domain/webhooks/list-endpoints.ts';
import { attemptsOf, type Webhook } from '../../domain/webhooks/webhook-file.ts';
import { probeEndpoints, recoverWebhooks, resendWebhook } from '../../operations/webhook.ts';
import { DAY_MS } from '../../time.ts';
import { recordView } from '../access/audit.ts';
import { mayUse, pathTo } from '../routes.ts';
import { ChoiceFilter, Filters, TextFilter } from '../shell/filters.tsx';
import { MerchantLink, PaymentLink, Time } from '../shell/links.tsx';
import { operationHandlers, pagesOf, type Resource } from '../shell/operation.tsx';
import { idIn, numberIn, textIn, wordIn } from '../shell/read-fields.ts';
import { Badge, type Tone } from '../shell/status.tsx';
import {
  type Column,
  Empty,
  type ListPage,
  listPage,
  NextPage,
  PAGE_SIZE,
  Table,
} from '../shell/table.tsx';
import { type Answer, ConsoleError, type Visit } from '../visit.ts';
import { recordWebhookView, WebhookPage, webhookIn } from './webhook.tsx';

/** An endpoint, whose operation of this name a member looks at. */
const endpointFor = (
  action: 'webhooks.recover' | 'webhooks.probe',
): Resource<Pick<SupportEndpoint, 'merchant_id' | 'endpoint'>> => ({
  find: endpointIn,
  recordView: (visit, { merchant_id, endpoint }) =>
    recordView(visit, {
      action,
      subject: 'webhooks',
      merchant_id,
      lookedFor: { endpoint },
      rows: null,
    }),
  nameOf: ({ endpoint }) => endpoint,
  pathOf: (endpoint) => pathTo('endpoint', { ...endpoint }),
});

const recovery = operationHandlers('endpointRecover', {
  resource: endpointFor('webhooks.recover'),
  pages: pagesOf([recoverWebhooks]),
  part: 'recover',
});

const WEBHOOK: Resource<Webhook> = {
  find: webhookIn,
  recordView: (visit, webhook) => recordWebhookView(visit, webhook),
  nameOf: ({ id }) => `Webhook ${id}`,
  pathOf: ({ id }) => pathTo('webhook', { id }),
};

export const webhookEndpointHandlers = {
  endpoints: async (visit: Visit): Promise<Answer> => {
    const merchant_id = numberIn(visit.query, 'merchant');
    const state = wordIn(visit.query, 'state', ENDPOINT_STATES);
    const narrowed = { merchant_id, state, after: afterIn(visit), countUpTo: MAX_WAITING_COUNTED };
    const page = await listPage(
      (limit) => listAllEndpoints(visit.service.database, { ...narrowed, limit }),
      (last) => `${last.state}/${last.merchant_id}/${last.endpoint}`,
    );
    await recordView(visit, {
      action: 'webhooks.endpoints',
      subject: 'webhooks',
      merchant_id: merchant_id ?? null,
      lookedFor: { merchant_id, state },
      rows: page.rows.length,
    });
    const { query } = visit;
    return { page: <EndpointsPage query={query} page={page} />, title: 'Webhook endpoints' };
  },

  endpoint: async (visit: Visit): Promise<Answer> => {
    const endpoint = await endpointIn(visit);
    const status = wordIn(visit.query, 'status', UNDELIVERED) ?? 'pending';
    const { merchant_id } = endpoint;
    const narrowed = { merchant_id, endpoint: endpoint.endpoint, status };
    const after = idIn(visit.query, 'after');
    const page = await listPage(
      (limit) => listDeliveries(visit.service.database, { ...narrowed, after, limit }),
      ({ id }) => id,
    );
    await recordView(visit, {
      action: 'webhooks.list',
      subject: 'webhooks',
      merchant_id,
      lookedFor: { endpoint: endpoint.endpoint, status },
      rows: page.rows.length,
    });
    const shown = <EndpointPage visit={visit} endpoint={endpoint} status={status} page={page} />;
    return { page: shown, title: endpoint.endpoint };
  },

  ...recovery,
  /** Without a first day it takes the last days, so that the form says which. */
  endpointRecoverForm: async (visit: Visit): Promise<Answer> => {
    if (visit.query.since) return recovery.endpointRecoverForm(visit);
    const query = new URLSearchParams({ ...visit.query, since: dayBefore(RECOVERED_DAYS) });
    return { goTo: `${pathTo('endpointRecoverForm', visit.params)}?${query}` };
  },

  ...operationHandlers('endpointProbe', {
    resource: endpointFor('webhooks.probe'),
    pages: pagesOf([probeEndpoints]),
    part: 'probe',
  }),

  webhook: async (visit: Visit): Promise<Answer> => webhookPage(visit, 'webhooks.show'),
  /** Shows personal data for this one time. */
  webhookReveal: async (visit: Visit): Promise<Answer> => webhookPage(visit, 'webhooks.reveal'),
  /** A reload of a revealed page shows the webhook veiled. */
  webhookRevealed: async ({ params }: Visit): Promise<Answer> => ({
    goTo: pathTo('webhook', params),
  }),
  ...operationHandlers('webhookResend', {
    resource: WEBHOOK,
    pages: pagesOf([resendWebhook]),
    part: 'resend',
  }),
};

const MERCHANT_ID = /^[1-9]\d{0,14}$/;

/** Reads the endpoint that the address names. @throws ConsoleError without one */
async function endpointIn({ service, params }: Visit): Promise<SupportEndpoint> {
  const { merchant_id = '', endpoint = '' } = params;
  const [found] = MERCHANT_ID.test(merchant_id)
    ? await listAllEndpoints(service.database, {
        merchant_id: Number(merchant_id),
        endpoint,
        countUpTo: MAX_WAITING_COUNTED,
        limit: 1,
      })
    : [];
  if (!found) throw new ConsoleError(404, 'There is no such endpoint, or nothing was sent to it');
  return found;
}

const RECOVERED_DAYS = 7;

/** Returns the day in Nairobi `days` days ago, as YYYY-MM-DD. */
function dayBefore(days: number): string {
  const offsetMs = -startOfDay('1970-01-01', DEFAULT_ZONE).getTime();
  return new Date(Date.now() + offsetMs - days * DAY_MS).toISOString().slice(0, 10);
}

/** The last endpoint of the page before: all parts of the place in the order of the list. */
function afterIn({ query }: Visit): EndpointKey | undefined {
  const [state, merchant, ...endpoint] = (textIn(query, 'after') ?? '').split('/');
  if (!state) return undefined;
  const key = { state, merchant: merchant ?? '' };
  return {
    state: wordIn(key, 'state', ENDPOINT_STATES)!,
    merchant_id: numberIn(key, 'merchant') ?? 0,
    endpoint: endpoint.join('/'),
  };
}

async function webhookPage(
  visit: Visit,
  action: 'webhooks.show' | 'webhooks.reveal',
): Promise<Answer> {
  const webhook = await webhookIn(visit);
  const attempts = await attemptsOf(visit.service.database, webhook, PAGE_SIZE);
  await recordWebhookView(visit, webhook, action);
  const isRevealed = action === 'webhooks.reveal';
  const page = (
    <WebhookPage visit={visit} webhook={webhook} attempts={attempts} isRevealed={isRevealed} />
  );
  return { page, title: `Webhook ${webhook.id}` };
}

const TONES: Readonly<Record<EndpointState, Tone>> = {
  held: 'bad',
  failing: 'warn',
  working: 'good',
};

/** The receivers of all merchants, those that do not work first. */
function EndpointsPage({
  query,
  page: { rows, next },
}: {
  query: Visit['query'];
  page: ListPage<SupportEndpoint>;
}) {
  const path = pathTo('endpoints');
  return (
    <>
      <h1>Webhook endpoints</h1>
      <Filters path={path}>
        <TextFilter name="merchant" label="Merchant" query={query} type="number" />
        <ChoiceFilter name="state" label="State" query={query} choices={ENDPOINT_STATES} />
      </Filters>
      {rows.length === 0 ? (
        <Empty>No endpoint fits. One is listed from its first webhook on.</Empty>
      ) : (
        <Table rows={rows} columns={ENDPOINTS} caption="Webhook endpoints" />
      )}
      <NextPage path={path} query={query} next={next} />
    </>
  );
}

const ENDPOINTS: readonly Column<SupportEndpoint>[] = [
  { heading: 'State', cell: ({ state }) => <Badge tone={TONES[state]} words={state} /> },
  { heading: 'Merchant', cell: ({ merchant_id }) => <MerchantLink merchant_id={merchant_id} /> },
  {
    heading: 'Endpoint',
    cell: (row) => <a href={pathTo('endpoint', { ...row })}>{row.endpoint}</a>,
  },
  { heading: 'Failing since', cell: ({ failing_since: at }) => at && <Time at={at} /> },
  { heading: 'Last failure', cell: (row) => failureOf(row) },
  { heading: 'Last success', cell: ({ last_success_at: at }) => at && <Time at={at} /> },
  { heading: 'Waiting', cell: ({ waiting }) => countWords(waiting), isNumber: true },
  { heading: 'Next probe', cell: ({ next_probe_at: at }) => at && <Time at={at} /> },
];

/** The status of an answer, or the error without one. */
function failureOf({
  last_status,
  last_error,
}: Pick<ListedDelivery, 'last_status' | 'last_error'>): string | null {
  if (last_status !== null) return `answered ${last_status}`;
  return last_error === null ? null : VEILED.text(last_error);
}

function countWords(count: number): string {
  return count < MAX_WAITING_COUNTED ? String(count) : `at least ${count}`;
}

interface EndpointProps {
  visit: Visit;
  endpoint: SupportEndpoint;
  status: string;
  page: ListPage<ListedDelivery>;
}

/** One receiver: why it is held, what waits for it, and what can be done. */
function EndpointPage({ visit, endpoint, status, page: { rows, next } }: EndpointProps) {
  const path = pathTo('endpoint', { ...endpoint });
  return (
    <>
      <h1>
        {endpoint.endpoint} <Badge tone={TONES[endpoint.state]} words={endpoint.state} />
      </h1>
      <Facts endpoint={endpoint} />
      {mayUse(visit.member.role, 'endpointRecoverForm') && (
        <p class="buttons">
          {endpoint.state === 'held' && (
            <a class="button" href={pathTo('endpointProbeForm', { ...endpoint })}>
              Probe now
            </a>
          )}
          <a class="button" href={pathTo('endpointRecoverForm', { ...endpoint })}>
            Send webhooks again
          </a>
        </p>
      )}
      <h2>Webhooks that have not arrived</h2>
      <Filters path={path}>
        <ChoiceFilter
          name="status"
          label="Status"
          query={visit.query}
          choices={UNDELIVERED.filter((word) => word !== 'pending')}
          all="pending"
        />
      </Filters>
      {rows.length === 0 ? (
        <Empty>No webhook to this endpoint is {status}.</Empty>
      ) : (
        <Table rows={rows} columns={DELIVERIES} caption="Webhooks, oldest first" />
      )}
      <NextPage path={path} next={next} query={visit.query} />
    </>
  );
}

const STATE_WORDS: Readonly<Record<EndpointState, string>> = {
  held: 'Five attempts in a row have failed. Its webhooks wait, and one at a time is sent as a probe. The first that is taken lets the others go.',
  failing: 'The last attempt has failed. Each webhook is tried again.',
  working: 'The last attempt has not failed.',
};

function Facts({ endpoint }: { endpoint: SupportEndpoint }) {
  const { state, merchant_id, failing_since, last_failure_at, last_success_at } = endpoint;
  return (
    <section class="card">
      <p>{STATE_WORDS[state]}</p>
      <dl>
        <dt>Merchant</dt>
        <dd>
          <MerchantLink merchant_id={merchant_id} />
        </dd>
        <dt>Failing since</dt>
        <dd>{failing_since ? <Time at={failing_since} /> : 'it is not'}</dd>
        <dt>Last failure</dt>
        <dd>
          {last_failure_at ? (
            <>
              {failureOf(endpoint)}, at <Time at={last_failure_at} />
            </>
          ) : (
            'none'
          )}
        </dd>
        <dt>Last success</dt>
        <dd>{last_success_at ? <Time at={last_success_at} /> : 'none'}</dd>
        <dt>Waiting</dt>
        <dd>{countWords(endpoint.waiting)}</dd>
        {endpoint.next_probe_at && (
          <>
            <dt>Next probe</dt>
            <dd>
              <Time at={endpoint.next_probe_at} />
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}

const DELIVERIES: readonly Column<ListedDelivery>[] = [
  { heading: 'Webhook', cell: ({ id }) => <a href={pathTo('webhook', { id })}>{id}</a> },
  {
    heading: 'Payment',
    cell: ({ payment_kind: kind, merchant_id, payment_id: id, ref_no }) => (
      <PaymentLink payment={{ kind, merchant_id, id }} ref_no={ref_no} />
    ),
  },
  { heading: 'Says', cell: ({ type }) => type },
  { heading: 'Attempts', cell: ({ attempts }) => attempts, isNumber: true },
  { heading: 'Last answer', cell: (row) => failureOf(row) },
  { heading: 'Last attempt', cell: ({ last_attempt_at: at }) => at && <Time at={at} /> },
  {
    heading: 'Next',
    cell: ({ next_attempt_at: at, parked_reason }) =>
      parked_reason === null ? at && <Time at={at} /> : 'needs a person',
  },
];
