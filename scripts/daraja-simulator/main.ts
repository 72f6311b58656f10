import { DEFAULT_DELAY_MS, DEFAULT_SLOW_SUCCESS_MS } from '../simulator/server.ts';
import { integerFrom, runSimulator } from '../simulator/simulator-process.ts';
import { anySeed, MAX_SEED } from './draws.ts';
import { DEFAULT_TOKEN_LIFETIME_S, startDarajaSimulator } from './server.ts';

const DEFAULT_PORT = 8091;
const MAX_PORT = 65_535;
const MAX_DELAY_MS = 60 * 60 * 1_000;
const MAX_LIFETIME_S = 24 * 60 * 60;

await runSimulator('Daraja simulator', async () =>
  startDarajaSimulator({
    seed: integerFrom('DARAJA_SIMULATOR_SEED', anySeed(), MAX_SEED),
    port: integerFrom('DARAJA_SIMULATOR_PORT', DEFAULT_PORT, MAX_PORT),
    delayMs: integerFrom('SIMULATOR_DELAY_MS', DEFAULT_DELAY_MS, MAX_DELAY_MS),
    slowSuccessMs: integerFrom('SIMULATOR_SLOW_SUCCESS_MS', DEFAULT_SLOW_SUCCESS_MS, MAX_DELAY_MS),
    tokenLifetimeS: integerFrom(
      'SIMULATOR_TOKEN_LIFETIME_S',
      DEFAULT_TOKEN_LIFETIME_S,
      MAX_LIFETIME_S,
    ),
  }),
);
