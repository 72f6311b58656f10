import { findRedisServer } from '../sandbox/embedded/redis.ts';
import { MERCHANTS_COUNT, proveBooks } from './backlog.ts';
import { measureFloor } from './lifecycle.ts';
import { createMerchants } from './payments.ts';
import { type Stage, startService } from './stage.ts';
import { drainWarm } from './warm-drain.ts';

/** Processes of each type, as on this many hosts with one PostgreSQL and one Redis. */
const COPIES_COUNTS = [1, 2, 4];

/** Measures whether anything but CPU time limits several processes of each type. */
export async function measureScale(stage: Stage): Promise<void> {
  const merchants = await createMerchants(stage, MERCHANTS_COUNT);
  const queues = findRedisServer() ? 'redis' : 'postgres';
  const floor = await measureFloor(stage, merchants);
  for (const copies of COPIES_COUNTS) {
    const service = await startService(stage, { queues, copies });
    await drainWarm(stage, service, merchants, { name: `${copies} of each type`, floor, copies });
    await service.stop();
  }
  stage.findings.notes.push(`queues in ${queues}; ratio: per second, as a part of the floor's`);
  await proveBooks(stage);
}
