import type { ComponentChildren } from 'preact';
import { channelByCode } from '../../domain/channels/channel.ts';
import { kes } from '../../domain/money.ts';
import { PAYMENT_KINDS } from '../../domain/payments/payment-summary.ts';
import { VEILED } from '../../domain/veil.ts';
import { COUNT_LIMIT } from '../../metrics/database-gauges.ts';
import type { Reading } from '../../metrics/gauges.ts';
import { SECOND_MS } from '../../time.ts';
import { pathTo } from '../routes.ts';
import { spanOf, Time } from '../shell/links.tsx';
import { Badge, type Tone } from '../shell/status.tsx';
import { type Column, Table } from '../shell/table.tsx';
import type { Figures, GaugeGroup } from './overview.tsx';
import type { REASONS } from './waiting.tsx';

type Labels = Readonly<Record<string, string>>;

/** The readings of a group of gauges. */
interface Gauges {
  sum(name: string, labels?: Labels): number;
  /** The largest value; 0 without any. */
  max(name: string, labels?: Labels): number;
  /** The rows of a gauge, with their labels. */
  of(name: string): Reading[];
}

function gaugesOf(readings: Reading[]): Gauges {
  const values = (name: string, labels: Labels = {}) =>
    readings
      .filter((row) => Object.entries(labels).every(([label, value]) => row[label] === value))
      .map((row) => row[name])
      .filter((value) => typeof value === 'number');
  return {
    sum: (name, labels) => values(name, labels).reduce((sum, value) => sum + value, 0),
    max: (name, labels) => Math.max(0, ...values(name, labels)),
    of: (name) => readings.filter((row) => typeof row[name] === 'number'),
  };
}

/** Returns a count. A count that has reached its limit is "at least". */
function countOf(count: number): string {
  const digits = count.toLocaleString('en-KE');
  return count < COUNT_LIMIT ? digits : `at least ${digits}`;
}

/** Returns a count, and how old the oldest is. */
function countSince(count: number, seconds: number): string {
  return count === 0 ? '0' : `${countOf(count)}, the oldest for ${spanOf(seconds)}`;
}

/** A figure. Its tone says whether somebody has to look. */
function Figure({
  label,
  value,
  tone = 'plain',
  path,
}: {
  label: string;
  value: ComponentChildren;
  tone?: Tone;
  path?: string;
}) {
  return (
    <>
      <dt>{path ? <a href={path}>{label}</a> : label}</dt>
      <dd class={tone}>{value}</dd>
    </>
  );
}

/** The tone of a count that should be zero. */
function toneOf(count: number, tone: Tone): Tone {
  return count > 0 ? tone : 'good';
}

interface OpenKind {
  kind: string;
  gauges: Gauges;
}

/** Open payments by kind. What waits for a person leads to its list. */
function OpenPayments({ gauges }: { gauges: Gauges }) {
  const rows = PAYMENT_KINDS.map((kind) => ({ kind, gauges }));
  return <Table rows={rows} columns={OPEN} caption="Open payments by kind" />;
}

const OPEN: readonly Column<OpenKind>[] = [
  { heading: 'Kind', cell: ({ kind }) => kind },
  stateColumn('Pending', 'pending'),
  stateColumn('Processing', 'processing'),
  {
    heading: 'Oldest',
    cell: ({ kind, gauges }) => spanOf(gauges.max('malipo_payments_oldest_open_seconds', { kind })),
    isNumber: true,
  },
  troubleColumn('Overdue', 'overdue'),
  troubleColumn('Waiting for a person', 'parked'),
];

function stateColumn(heading: string, state: string): Column<OpenKind> {
  return {
    heading,
    cell: ({ kind, gauges }) => countOf(gauges.sum('malipo_payments_open', { kind, state })),
    isNumber: true,
  };
}

function troubleColumn(heading: string, why: (typeof REASONS)[number]): Column<OpenKind> {
  return {
    heading,
    cell: ({ kind, gauges }) => {
      // The rows of both states repeat it.
      const count = gauges.max(`malipo_payments_${why}`, { kind });
      if (count === 0) return <span class="good">0</span>;
      const query = new URLSearchParams({ why, kind });
      return (
        <a class="bad" href={`${pathTo('waiting')}?${query}`}>
          {countOf(count)}
        </a>
      );
    },
    isNumber: true,
  };
}

/** Matters that a person must decide. */
function OpenMatters({ gauges }: { gauges: Gauges }) {
  const kinds = gauges.of('malipo_discrepancies_open');
  const held = gauges.of('malipo_suspense_cents').filter((row) => row.malipo_suspense_cents !== 0);
  return (
    <dl>
      {kinds.length === 0 && <Figure label="Discrepancies" value="0" tone="good" />}
      {kinds.map((row) => (
        <Figure
          label={`Discrepancies: ${row.kind}`}
          value={countSince(
            Number(row.malipo_discrepancies_open),
            Number(row.malipo_discrepancies_oldest_seconds),
          )}
          tone="bad"
          path={`${pathTo('discrepancies')}?${new URLSearchParams({ kind: String(row.kind) })}`}
        />
      ))}
      {held.length === 0 && <Figure label="Money in suspense" value="none" tone="good" />}
      {held.map((row) => (
        <Figure
          label={`In suspense of ${row.kind}s`}
          value={`${kes(Number(row.malipo_suspense_cents))} for ${spanOf(Number(row.malipo_suspense_oldest_seconds))}`}
          tone="warn"
          path={`${pathTo('suspense')}?${new URLSearchParams({ kind: String(row.kind) })}`}
        />
      ))}
    </dl>
  );
}

/** The last proof of the books. */
function Ledger({ gauges }: { gauges: Gauges }) {
  const at = gauges.max('malipo_ledger_verified_timestamp_seconds');
  const breaks = gauges.of('malipo_ledger_breaks').filter((row) => row.malipo_ledger_breaks !== 0);
  if (at === 0) {
    return <p class="warn">It was never verified. A dispatcher does it on schedule.</p>;
  }
  return (
    <dl>
      <Figure label="Last verified" value={<Time at={new Date(at * SECOND_MS)} />} />
      {breaks.length === 0 && <Figure label="Breaks" value="none" tone="good" />}
      {breaks.map((row) => (
        <Figure label={`Breaks: ${row.kind}`} value={Number(row.malipo_ledger_breaks)} tone="bad" />
      ))}
    </dl>
  );
}

/** Pauses of channels, and floats and troubles that gateways have told. */
function Channels({ gauges, pauses }: { gauges: Gauges; pauses: Figures['pauses'] }) {
  const path = pathTo('channels');
  return (
    <dl>
      {pauses.length === 0 && (
        <Figure label="Paused channels" value="none" tone="good" path={path} />
      )}
      {pauses.map(({ code, what, paused_at }) => (
        <Figure
          path={path}
          tone="bad"
          label={`${channelByCode(code)?.name ?? code} is paused`}
          value={
            <>
              {what?.join(', ') ?? 'everything'}, since <Time at={paused_at} />
            </>
          }
        />
      ))}
      {gauges.of('malipo_gateway_float_cents').map((row) => (
        <Figure
          path={path}
          label={`Float of ${row.gateway}`}
          value={`${kes(Number(row.malipo_gateway_float_cents))}, told ${spanOf(Number(row.malipo_gateway_float_age_seconds))} ago`}
        />
      ))}
      {gauges.of('malipo_operator_troubles').map((row) => (
        <Figure
          path={path}
          tone="bad"
          label={`Failed by our own trouble with ${row.gateway}`}
          value={<Badge tone="bad" words={`${row.malipo_operator_troubles} in half an hour`} />}
        />
      ))}
    </dl>
  );
}

/** The figures of the whole service, read from PostgreSQL. */
export function FiguresPart({ figures }: { figures: Figures }) {
  const { readings, errors, pauses, submissionsPaused } = figures;
  return (
    <>
      {submissionsPaused !== null && <p class="warning">{submissionsPaused}.</p>}
      <Group readings={readings} group="payments" title="Open payments">
        {(gauges) => <OpenPayments gauges={gauges} />}
      </Group>
      <div class="cards figures">
        <Group readings={readings} group="jobs" title="Jobs">
          {(gauges) => <Jobs gauges={gauges} errors={errors} />}
        </Group>
        <Group readings={readings} group="events" title="Webhooks">
          {(gauges) => <Webhooks gauges={gauges} />}
        </Group>
        <Group readings={readings} group="open matters" title="To decide">
          {(gauges) => <OpenMatters gauges={gauges} />}
        </Group>
        <Group readings={readings} group="ledger" title="Ledger">
          {(gauges) => <Ledger gauges={gauges} />}
        </Group>
        <Group readings={readings} group="gateways" title="Channels and gateways">
          {(gauges) => <Channels gauges={gauges} pauses={pauses} />}
        </Group>
      </div>
    </>
  );
}

function Group({
  readings,
  group,
  title,
  children,
}: {
  readings: Figures['readings'];
  group: GaugeGroup;
  title: string;
  children(gauges: Gauges): ComponentChildren;
}) {
  const read = readings[group];
  return (
    <section class="card">
      <h2>{title}</h2>
      {read === null ? (
        <p class="soft">PostgreSQL did not tell in time. It is asked again in ten seconds.</p>
      ) : (
        children(gaugesOf(read))
      )}
    </section>
  );
}

/** The dispatcher empties the outbox all the time. */
const LATE_OUTBOX_SECONDS = 60;

function Jobs({ gauges, errors }: { gauges: Gauges; errors: Figures['errors'] }) {
  const lag = gauges.max('malipo_outbox_lag_seconds');
  const failed = gauges.sum('malipo_failed_jobs');
  return (
    <>
      <dl>
        <Figure
          label="In the outbox"
          value={countSince(gauges.sum('malipo_outbox_rows'), lag)}
          tone={lag > LATE_OUTBOX_SECONDS ? 'bad' : 'plain'}
        />
        <Figure
          label="Steps due"
          value={countSince(
            gauges.sum('malipo_steps_due'),
            gauges.max('malipo_steps_oldest_due_seconds'),
          )}
        />
        <Figure
          label="Failed, waiting for a person"
          path={pathTo('failedJobs')}
          value={countOf(failed)}
          tone={toneOf(failed, 'bad')}
        />
      </dl>
      {errors.length > 0 && (
        <>
          <h3>The newest that failed, by error</h3>
          <ul>
            {errors.map(({ queue, error, part, count }) => (
              <li>
                <a href={`${pathTo('failedJobs')}?${new URLSearchParams({ queue, error: part })}`}>
                  {count} in {queue}
                </a>
                : {VEILED.text(error)}
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

function Webhooks({ gauges }: { gauges: Gauges }) {
  const waiting = (state: string) => gauges.sum('malipo_webhook_deliveries', { state });
  const open = gauges.sum('malipo_webhook_endpoints_open');
  return (
    <dl>
      <Figure
        label="Endpoints that are held"
        value={countSince(open, gauges.max('malipo_webhook_endpoints_oldest_open_seconds'))}
        tone={toneOf(open, 'warn')}
        path={`${pathTo('endpoints')}?state=held`}
      />
      <Figure label="Wait for such an endpoint" value={countOf(waiting('held'))} />
      <Figure label="Waiting for a free slot" value={countOf(waiting('due'))} />
      <Figure label="Under way" value={countOf(waiting('admitted'))} />
      <Figure label="For a later attempt" value={countOf(waiting('later'))} />
      <Figure
        label="Events without a number"
        value={countSince(
          gauges.sum('malipo_events_unnumbered'),
          gauges.max('malipo_events_oldest_unnumbered_seconds'),
        )}
      />
    </dl>
  );
}
