import { DEFAULT_DELAY_MS, DEFAULT_SLOW_SUCCESS_MS, startSimulator } from './server.ts';
import { integerFrom, runSimulator } from './simulator-process.ts';

const DEFAULT_PORT = 8090;
const MAX_PORT = 65_535;
const MAX_DELAY_MS = 60 * 60 * 1_000;

await runSimulator('Gateway simulator', async () =>
  startSimulator({
    port: integerFrom('SIMULATOR_PORT', DEFAULT_PORT, MAX_PORT),
    delayMs: integerFrom('SIMULATOR_DELAY_MS', DEFAULT_DELAY_MS, MAX_DELAY_MS),
    slowSuccessMs: integerFrom('SIMULATOR_SLOW_SUCCESS_MS', DEFAULT_SLOW_SUCCESS_MS, MAX_DELAY_MS),
  }),
);
