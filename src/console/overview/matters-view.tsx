import { channelByCode } from '../../domain/channels/channel.ts';
import { pathTo } from '../routes.ts';
import { kes } from '../shell/money.tsx';
import { Badge } from '../shell/status.tsx';
import { spanOf, Time } from '../shell/time.tsx';
import { Figure } from './figure.tsx';
import { countSince, type Gauges } from './figures.ts';
import type { Figures } from './query.ts';

/** What somebody must decide about. */
export function OpenMatters({ gauges }: { gauges: Gauges }) {
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

const MS_PER_SECOND = 1_000;

/** The last proof of the books. */
export function Ledger({ gauges }: { gauges: Gauges }) {
  const at = gauges.max('malipo_ledger_verified_timestamp_seconds');
  const breaks = gauges.of('malipo_ledger_breaks').filter((row) => row.malipo_ledger_breaks !== 0);
  if (at === 0) {
    return <p class="warn">It was never verified. A dispatcher does it on schedule.</p>;
  }
  return (
    <dl>
      <Figure label="Last verified" value={<Time at={new Date(at * MS_PER_SECOND)} />} />
      {breaks.length === 0 && <Figure label="Breaks" value="none" tone="good" />}
      {breaks.map((row) => (
        <Figure label={`Breaks: ${row.kind}`} value={Number(row.malipo_ledger_breaks)} tone="bad" />
      ))}
    </dl>
  );
}

/** What is paused, and what gateways have told of themselves. */
export function Channels({ gauges, pauses }: { gauges: Gauges; pauses: Figures['pauses'] }) {
  const path = pathTo('channels');
  return (
    <dl>
      {pauses.length === 0 && (
        <Figure label="Paused channels" value="none" tone="good" path={path} />
      )}
      {pauses.map(({ code, what, paused_at }) => (
        <Figure
          {...{ path, tone: 'bad', label: `${channelByCode(code)?.name ?? code} is paused` }}
          value={
            <>
              {what?.join(', ') ?? 'everything'}, since <Time at={paused_at} />
            </>
          }
        />
      ))}
      {gauges.of('malipo_gateway_float_cents').map((row) => (
        <Figure
          {...{ path, label: `Float of ${row.gateway}` }}
          value={`${kes(Number(row.malipo_gateway_float_cents))}, told ${spanOf(Number(row.malipo_gateway_float_age_seconds))} ago`}
        />
      ))}
      {gauges.of('malipo_operator_troubles').map((row) => (
        <Figure
          {...{ path, tone: 'bad', label: `Failed by our own trouble with ${row.gateway}` }}
          value={<Badge tone="bad" words={`${row.malipo_operator_troubles} in half an hour`} />}
        />
      ))}
    </dl>
  );
}
