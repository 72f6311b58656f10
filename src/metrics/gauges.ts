import { Gauge, type Registry } from 'prom-client';

/** Gauges by name, each with its help and the names of its labels. */
export type GaugeTable = Readonly<Record<string, readonly [help: string, ...labelNames: string[]]>>;

/** A row of values: each under the name of its gauge, beside its labels under theirs. */
export type Reading = Record<string, string | number | null | undefined>;

/**
 * Adds gauges to a registry, which calls `collect` for each of them at every scrape.
 * @returns the function that replaces all their values
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
      // Otherwise a gauge without labels would be 0 now.
      gauge.remove({});
      for (const reading of readings) {
        const value = reading[name];
        if (typeof value !== 'number') continue;
        gauge.set(
          Object.fromEntries(labelNames.map((label) => [label, `${reading[label]}`])),
          value,
        );
      }
    }
  };
}
