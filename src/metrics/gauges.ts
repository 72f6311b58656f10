import { Counter, Gauge, type Registry } from 'prom-client';
import { messageOf } from '../connections/database-errors.ts';
import type { Logger } from '../process/logger.ts';
import { atMostEvery, waitAtMost } from '../time.ts';

/** Gauges by name, each with its help and the names of its labels. */
export type GaugeTable = Readonly<Record<string, readonly [help: string, ...labelNames: string[]]>>;

/** A row: each value under the name of its gauge, and each label under the label's name. */
export type Reading = Record<string, string | number | null | undefined>;

/**
 * Adds gauges to a registry, which calls `collect` for each of them at every scrape.
 * @returns the function that replaces the values of all these gauges
 */
export function addGauges(
  registry: Registry,
  table: GaugeTable,
  collect: () => void | Promise<void>,
): (readings: Reading[]) => void {
  const gauges = Object.entries(table).map(([name, [help, ...labelNames]]) => {
    const gauge = new Gauge({ name, help, labelNames, registers: [registry], collect });
    return { name, labelNames, gauge };
  });
  return (readings) => {
    for (const { name, labelNames, gauge } of gauges) {
      gauge.reset();
      // After the reset a gauge without labels would show 0.
      gauge.remove({});
      for (const reading of readings) {
        const value = reading[name];
        const labels = labelNames.map((label) => [label, `${reading[label]}`]);
        if (typeof value === 'number') gauge.set(Object.fromEntries(labels), value);
      }
    }
  };
}

/** Gauges that are read together. */
export interface Source {
  /** The name in the log and in the count of failures. */
  name: string;
  gauges: GaugeTable;
  /** May throw: then the gauges of this source have no values. Other gauges keep theirs. */
  read(): Promise<Reading[]>;
}

/** A store outside of this process. */
export interface Backend {
  /** The gauge that is 1 while nothing is wrong with the store. */
  up: { name: string; help: string };
  /** Returns a line that says what is wrong, or null. Throws when the store does not answer. */
  check(): Promise<string | null>;
  /** A scrape reads them one after the other, so that it takes only one connection. */
  sources: readonly Source[];
}

/** Scrapes within this time share one reading, so that frequent scrapes do not load the stores. */
const MAX_AGE_MS = 10_000;
const CHECK_TIMEOUT_MS = 2_000;
/**
 * The limit for check and reading of one store. It is shorter than Prometheus waits for a scrape.
 */
const READ_TIMEOUT_MS = 4_500;
const LATE = 'no answer in time';

/**
 * Adds gauges that a scrape reads from these stores. A gauge that cannot be read has no
 * value: nobody could tell an old value from a new one.
 */
export function addScrapedGauges(
  registry: Registry,
  backends: readonly Backend[],
  logger: Logger,
  maxAgeMs = MAX_AGE_MS,
  readTimeoutMs = READ_TIMEOUT_MS,
): void {
  const collect = atMostEvery(maxAgeMs, async () => {
    await Promise.all(readers.map((read) => read(performance.now() + readTimeoutMs)));
  });
  const failures = new Counter({
    name: 'malipo_reading_failures_total',
    help: 'Readings of the state of the service that failed, by source',
    labelNames: ['source'],
    registers: [registry],
    collect,
  });
  const warn = (source: string, error: unknown) =>
    logger.warn('metrics not read', { source, error: messageOf(error) });
  const readers = backends.map(({ up, check, sources }) => {
    const showUp = addGauges(registry, { [up.name]: [up.help] }, collect);
    const shown = sources.map((source) => {
      failures.inc({ source: source.name }, 0);
      return { ...source, show: addGauges(registry, source.gauges, collect) };
    });
    const readSources = roundRobin(shown, (source, error) => {
      failures.inc({ source });
      warn(source, error);
    });
    return async (endAt: number) => {
      for (const { show } of shown) show([]);
      try {
        const fault = await waitAtMost(check(), CHECK_TIMEOUT_MS, LATE);
        showUp([{ [up.name]: fault === null ? 1 : 0 }]);
        if (fault !== null) logger.warn('store at fault', { source: up.name, error: fault });
      } catch (error) {
        showUp([{ [up.name]: 0 }]);
        return warn(up.name, error);
      }
      // A store with a fault is read if it answers: people look at its metrics just then.
      await readSources(endAt);
    };
  });
}

/**
 * Reads sources one after the other until the time is over. The next call begins with the
 * source that had no turn, so a slow source holds up the others only once. Late values are
 * dropped, and the next source is read only after they have come.
 */
function roundRobin(
  sources: readonly (Source & { show: (readings: Reading[]) => void })[],
  onFailure: (source: string, error: unknown) => void,
): (endAt: number) => Promise<void> {
  let order = sources;
  let lastReading: Promise<unknown> = Promise.resolve();
  return async (endAt) => {
    const beforeEnd = <Result>(work: Promise<Result>) =>
      waitAtMost(work, endAt - performance.now(), LATE);
    for (const source of order) {
      try {
        await beforeEnd(lastReading);
        order = [...order.filter((other) => other !== source), source];
        const readings = source.read();
        lastReading = readings.catch(() => {});
        source.show(await beforeEnd(readings));
      } catch (error) {
        onFailure(source.name, error);
      }
    }
  };
}
