import { Gauge, type Registry } from 'prom-client';

/** Adds what a process says of its own work when somebody asks; nothing is read from elsewhere. */
export function addStuckWork(
  registry: Registry,
  look: () => readonly { name: string; stuck: boolean }[],
): void {
  new Gauge({
    name: 'malipo_work_stuck',
    help: '1 when work is due and the process has begun none of it for a minute, as /healthz says',
    labelNames: ['work'] as const,
    registers: [registry],
    collect() {
      for (const { name, stuck } of look()) this.set({ work: name }, stuck ? 1 : 0);
    },
  });
}
