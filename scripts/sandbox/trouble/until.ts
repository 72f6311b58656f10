import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedServiceError } from '../processes/embedded-service-error.ts';

const TIMEOUT_MS = 60_000;
const LOOK_INTERVAL_MS = 100;

/** Looks again and again until it is so. @throws EmbeddedServiceError when it never is */
export async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + TIMEOUT_MS;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new EmbeddedServiceError(`${what} did not happen`);
    await sleep(LOOK_INTERVAL_MS);
  }
}
