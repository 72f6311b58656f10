import type { Registry } from 'prom-client';
import { createQueueBackend } from '../../src/jobs/backend.ts';
import { openQueueStates } from '../../src/jobs/queue-states.ts';
import { watchService } from '../../src/metrics/service-gauges.ts';
import type { Service } from '../../src/process/boot.ts';

/** One value of a scrape. */
export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** All values that a scrape finds, in the text that Prometheus reads. */
export async function scrape(registry: Registry): Promise<Sample[]> {
  const lines = (await registry.metrics()).split('\n').filter((line) => /^\w/.test(line));
  return lines.map((line) => {
    const [, name, labels, value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line)!;
    const pairs = [...(labels ?? '').matchAll(/(\w+)="([^"]*)"/g)];
    return {
      name: name!,
      labels: Object.fromEntries(pairs.map(([, key, text]) => [key!, text!])),
      value: Number(value),
    };
  });
}

/** The sum of the samples of this name that have these labels; undefined when there is none. */
export function sumOf(
  samples: Sample[],
  name: string,
  labels: Record<string, string> = {},
): number | undefined {
  const found = samples.filter(
    (sample) =>
      sample.name === name &&
      Object.entries(labels).every(([label, text]) => sample.labels[label] === text),
  );
  return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
}

/** Shows the state of the whole service as a dispatcher would, read anew at every scrape. */
export function watch(
  service: Service,
  config: Pick<Service['config'], 'databaseUrl' | 'redisUrl'> = service.config,
): { scrape(): Promise<Sample[]>; close(): Promise<void> } {
  const backend = createQueueBackend({ ...service.config, ...config });
  const queues = openQueueStates(backend, service.logger);
  watchService(service, queues, 0);
  return { scrape: () => scrape(service.meters.registry), close: () => queues.close() };
}
