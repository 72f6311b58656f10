import { findRedisServer } from '../sandbox/embedded/redis.ts';
import { MERCHANTS_COUNT, proveBooks } from './backlog.ts';
import { measureFloor, seedPayments } from './lifecycle.ts';
import { createMerchants } from './payments.ts';
import type { Figure } from './report.ts';
import { type Stage, startService } from './stage.ts';
import { drainWarm } from './warm-drain.ts';

/** Measures what payments cost among many that have ended, next to the first ones of a database. */
export async function measureGrowth(stage: Stage): Promise<void> {
  const { findings, options } = stage;
  const merchants = await createMerchants(stage, MERCHANTS_COUNT);
  const queues = findRedisServer() ? 'redis' : 'postgres';
  const floor = await measureFloor(stage, merchants);
  const drain = async (name: string, reference: Figure) => {
    const service = await startService(stage, { queues });
    const figure = await drainWarm(stage, service, merchants, { name, floor: reference });
    // Nobody else may take up the payments that are added.
    await service.stop();
    return figure;
  };
  const before = await drain('empty', floor);
  await seedPayments(stage, merchants, options.rows);
  const after = await drain('grown', before);
  const cpu = after.cpuMs / before.cpuMs;
  findings.notes.push(
    `queues in ${queues}; among ${options.rows} payments one costs ${cpu.toFixed(2)} of the CPU time of the first ones`,
    "ratio: per second, as a part of the floor's; grown: as a part of the empty database's",
  );
  await proveBooks(stage);
}
