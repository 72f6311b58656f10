import type { ComponentChildren } from 'preact';
import { pathTo } from '../routes.ts';
import { VEILED } from '../shell/veil.ts';
import { Figure, toneOf } from './figure.tsx';
import { countOf, countSince, type Gauges, gaugesOf } from './figures.ts';
import { Channels, Ledger, OpenMatters } from './matters-view.tsx';
import { OpenPayments } from './payments-view.tsx';
import type { Figures, GaugeGroup } from './query.ts';

/** What PostgreSQL tells of the whole service. */
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
      <Figure label="Wait for a place" value={countOf(waiting('due'))} />
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
