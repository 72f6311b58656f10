import { Counter, Gauge, type Registry } from 'prom-client';
import { atMostEvery } from '../connections/at-most-every.ts';
import { messageOf } from '../connections/database-errors.ts';
import type { Logger } from '../process/logger.ts';

/** One value that was read. */
export interface Reading {
  name: string;
  labels?: Record<string, string>;
  value: number;
}

/** Gauges whose values are read together. */
export interface Source {
  /** For the log and for the count of failures. */
  name: string;
  gauges: readonly { name: string; help: string; labels?: readonly string[] }[];
  /** May throw: the gauges of this source then have no values, and all others theirs. */
  read(): Promise<Reading[]>;
}

/** Something outside of this process that sources read. */
export interface Backend {
  /** The gauge that is 1 when nothing is wrong with it. */
  up: { name: string; help: string };
  /** What is wrong though it answers, in a line, or null. Throws when it does not answer. */
  check(): Promise<string | null>;
  /** Read one after the other, so that watching takes one connection and no more. */
  sources: readonly Source[];
}

/** However often it is asked, by however many: nothing is read more often than this. */
const MAX_AGE_MS = 10_000;
/** A backend that takes longer does not answer. */
const CHECK_TIMEOUT_MS = 2_000;
/** Shorter than a scrape waits. What was not read by then has no values this time. */
const READ_TIMEOUT_MS = 4_500;

/**
 * Adds gauges that are read from these backends when somebody asks for them. What cannot be
 * read has no value: an old one would look like a new one.
 */
export function addReadings(
  registry: Registry,
  backends: readonly Backend[],
  logger: Logger,
  maxAgeMs = MAX_AGE_MS,
  readTimeoutMs = READ_TIMEOUT_MS,
): void {
  const registers = [registry];
  const failures = new Counter({
    name: 'malipo_reading_failures_total',
    help: 'Readings of the state of the service that failed, by what was to be read',
    labelNames: ['source'] as const,
    registers,
    collect: () => collect(),
  });
  const gauges = new Map<string, Gauge>();
  const set = ({ name, labels = {}, value }: Reading) => gauges.get(name)!.set(labels, value);
  const warn = (source: string, error: unknown) =>
    logger.warn('metrics not read', { source, error: messageOf(error) });
  const readers = backends.map(({ up, check, sources }) => {
    const readSources = readerOf(sources);
    return async () => {
      const time = AbortSignal.timeout(readTimeoutMs);
      const checkTime = AbortSignal.timeout(CHECK_TIMEOUT_MS);
      try {
        const fault = await inTime(checkTime, check());
        set({ name: up.name, value: fault === null ? 1 : 0 });
        if (fault !== null) logger.warn('store at fault', { source: up.name, error: fault });
      } catch (error) {
        set({ name: up.name, value: 0 });
        return warn(up.name, error);
      }
      // What answers is read, whatever is wrong with it: that is when somebody looks.
      await readSources(time, set, (source, error) => {
        failures.inc({ source });
        warn(source, error);
      });
    };
  });
  const collect = atMostEvery(maxAgeMs, async () => {
    for (const gauge of gauges.values()) empty(gauge);
    await Promise.all(readers.map((read) => read()));
  });
  for (const { up, sources } of backends) {
    const own: Source['gauges'] = [up, ...sources.flatMap((source) => source.gauges)];
    for (const { name, help, labels = [] } of own) {
      gauges.set(name, new Gauge({ name, help, labelNames: [...labels], registers, collect }));
    }
    for (const { name } of sources) failures.inc({ source: name }, 0);
  }
}

/**
 * Reads the sources one after the other until the time is over. One that is not done by then
 * is the last the next time, so that it does not hold up the others for ever; what it says
 * too late is thrown away, and nothing else is read before it has.
 */
function readerOf(sources: readonly Source[]) {
  let order = sources;
  let last: Source | undefined;
  let running: Promise<unknown> = Promise.resolve();
  const read = async (source: Source, time: AbortSignal): Promise<Reading[]> => {
    await inTime(time, running);
    last = source;
    const readings = source.read();
    running = readings.catch(() => {});
    await inTime(time, readings);
    return readings;
  };
  return async (
    time: AbortSignal,
    onReading: (reading: Reading) => void,
    onFailure: (source: string, error: unknown) => void,
  ): Promise<void> => {
    for (const source of order) {
      try {
        for (const reading of await read(source, time)) onReading(reading);
      } catch (error) {
        onFailure(source.name, error);
      }
    }
    if (last && time.aborted) order = [...order.filter((one) => one !== last), last];
  };
}

/** Resetting alone would leave a gauge without labels at 0. */
function empty(gauge: Gauge): void {
  gauge.reset();
  gauge.remove({});
}

/** @throws the error of the work, or that the time was over */
async function inTime<Result>(time: AbortSignal, work: Promise<Result>): Promise<Result> {
  let end = () => {};
  const over = new Promise<never>((_resolve, reject) => {
    end = () => reject(new Error('no answer in time'));
  });
  time.addEventListener('abort', end);
  try {
    if (time.aborted) end();
    return await Promise.race([over, work]);
  } finally {
    time.removeEventListener('abort', end);
    work.catch(() => {});
  }
}
