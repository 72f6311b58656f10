import type { Registry } from 'prom-client';
import { createQueueBackend } from '../../src/jobs/backend.ts';
import { openQueueReader } from '../../src/jobs/queue-reader.ts';
import { addServiceGauges } from '../../src/metrics/service-gauges.ts';
import type { Service } from '../../src/service/service.ts';

/** One value of a scrape. */
export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** Returns all values that a scrape finds in the text that Prometheus reads. */
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

/** Returns the sum of the samples with this name and these labels, or undefined without any. */
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

/** Shows the gauges of the whole service as a dispatcher does. Each scrape reads them anew. */
export function watch(
  service: Service,
  config: Pick<Service['config'], 'databaseUrl' | 'redisUrl'> = service.config,
): { scrape(): Promise<Sample[]>; text(): Promise<string>; close(): Promise<void> } {
  const backend = createQueueBackend({
    ...{ ...service.config, ...config },
    installationId: 'test',
  });
  const queues = openQueueReader(backend, service.logger);
  addServiceGauges(service, queues, 0);
  const { registry } = service.meters;
  return {
    scrape: () => scrape(registry),
    text: () => registry.metrics(),
    close: () => queues.close(),
  };
}
