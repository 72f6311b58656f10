import { inTransaction } from '../../connections/database.ts';
import { messageOf } from '../../connections/database-errors.ts';
import { type ChannelPause, channelPauses } from '../../domain/channels/channel-store.ts';
import { readOutcomesLately } from '../../domain/settlement/lately.ts';
import { type FailedJob, listFailedJobs } from '../../domain/support/failed-job-store.ts';
import { counted } from '../../domain/text.ts';
import { otherDatabase, whyPaused } from '../../domain/upkeep/other-database.ts';
import { VEILED } from '../../domain/veil.ts';
import { type QueueStatus, readQueueStatus } from '../../jobs/queue-status.ts';
import { DATABASE_GAUGES } from '../../metrics/database-gauges.ts';
import type { Reading } from '../../metrics/gauges.ts';
import { readAll } from '../../metrics/service-gauges.ts';
import type { Service } from '../../service/service.ts';
import { waitAtMost } from '../../time.ts';
import { pathTo } from '../routes.ts';
import { ASSETS } from '../shell/assets.ts';
import { MAX_TEXT_LENGTH } from '../shell/read-fields.ts';
import type { Answer, ConsoleService, Visit } from '../visit.ts';
import { OutcomesPart, QueuesPart } from './overview-charts.tsx';
import { FiguresPart } from './overview-figures.tsx';

/**
 * The first page. Its figures are nobody's data, so no read is recorded. The queues and the charts
 * come as parts of their own: the page waits for neither.
 */
export const overviewHandlers = {
  overview: async (visit: Visit): Promise<Answer> => ({
    page: <Overview visit={visit} figures={await readFigures(visit.service)} />,
    title: 'Overview',
  }),

  overviewFigures: async ({ service }: Visit): Promise<Answer> => ({
    part: <FiguresPart figures={await readFigures(service)} />,
  }),

  overviewQueues: async ({ service }: Visit): Promise<Answer> => ({
    part: <QueuesPart status={await readQueues(service)} />,
  }),

  overviewOutcomes: async ({ service }: Visit): Promise<Answer> => ({
    part: <OutcomesPart outcomes={await readOutcomesLately(service.database)} />,
  }),
};

/** The first page: how everything goes. Its parts refresh themselves. */
function Overview({ visit, figures }: { visit: Visit; figures: Figures }) {
  return (
    <>
      <link rel="stylesheet" href={ASSETS.plotStyle.path} />
      <script src={ASSETS.plot.path} defer />
      <script src={ASSETS.chart.path} defer />
      <h1>Overview</h1>
      {visit.approvals ? (
        <p>
          <a href={pathTo('approvals')}>
            {counted(visit.approvals, 'request')} that you may decide about
          </a>
        </p>
      ) : null}
      <div
        hx-get={pathTo('overviewFigures')}
        hx-trigger="every 10s"
        hx-swap="innerMorph"
        aria-live="off"
      >
        <FiguresPart figures={figures} />
      </div>
      <div hx-get={pathTo('overviewQueues')} hx-trigger="load, every 10s" hx-swap="innerMorph">
        <h2>Queues</h2>
        <p class="soft">Asking the queues …</p>
      </div>
      <div hx-get={pathTo('overviewOutcomes')} hx-trigger="load, every 60s" hx-swap="innerHTML">
        <h2>The last hours</h2>
        <p class="soft">Reading …</p>
      </div>
    </>
  );
}

/** The gauges that the overview shows. They mean what they mean to Prometheus. */
const SHOWN = ['payments', 'jobs', 'events', 'open matters', 'gateways', 'ledger'] as const;
export type GaugeGroup = (typeof SHOWN)[number];

/** The failed jobs whose errors are compared. */
const COMPARED_JOBS = 100;

export interface Figures {
  /** Null: this group could not be read in time. */
  readings: Readonly<Record<GaugeGroup, Reading[] | null>>;
  /** The newest failed jobs that wait for somebody, by error. */
  errors: FailedError[];
  pauses: ChannelPause[];
  /** Why nothing at all is sent; null when it is. */
  submissionsPaused: string | null;
}

/** Jobs of a queue that have failed with the same words. */
export interface FailedError {
  queue: string;
  error: string;
  /** The longest part that all of them have: numbers and ids differ from job to job. */
  part: string;
  count: number;
}

/** Reads everything that PostgreSQL tells, one group after the other: it takes one connection. */
async function readFigures({ database, logger }: Service): Promise<Figures> {
  const readings = {} as Record<GaugeGroup, Reading[] | null>;
  for (const group of SHOWN) {
    readings[group] = await inTransaction(database, (trx) =>
      readAll(trx, DATABASE_GAUGES[group]!),
    ).catch((error) => {
      logger.warn('overview not read', { group, error: messageOf(error) });
      return null;
    });
  }
  const page = { order: 'newest first', limit: COMPARED_JOBS } as const;
  const other = await otherDatabase(database);
  return {
    readings,
    errors: byError(await listFailedJobs(database, { state: 'waiting' }, page)),
    pauses: [...(await channelPauses(database)).values()],
    submissionsPaused: other && whyPaused(other),
  };
}

const VARIABLE = /[0-9a-f]{8}-[0-9a-f-]{27}|\d+/gi;

function byError(jobs: FailedJob[]): FailedError[] {
  const found = new Map<string, FailedError>();
  for (const { queue, error } of jobs) {
    const words = error.replace(VARIABLE, '…');
    const key = `${queue}\n${words}`;
    const known = found.get(key) ?? {
      queue,
      error: words,
      // The address of a link shows no more than its text.
      part: longestOf(VEILED.text(words)).slice(0, MAX_TEXT_LENGTH),
      count: 0,
    };
    found.set(key, { ...known, count: known.count + 1 });
  }
  return [...found.values()].sort((a, b) => b.count - a.count);
}

function longestOf(words: string): string {
  return words
    .split(/…|•+/)
    .reduce((longest, part) => (part.length > longest.length ? part : longest));
}

/** A little more than what a queue may take that does not answer. */
const QUEUES_TIMEOUT_MS = 4_000;

/** Reads what waits in the queues. @returns one line when they took too long */
async function readQueues(service: ConsoleService): Promise<QueueStatus | string> {
  try {
    const status = readQueueStatus(service, service.queueReader);
    return await waitAtMost(status, QUEUES_TIMEOUT_MS, LATE);
  } catch (error) {
    if (error instanceof Error && error.message === LATE) return LATE;
    throw error;
  }
}

const LATE = 'The queues did not answer in time';
