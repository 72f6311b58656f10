import { DEFAULT_DELAY_MS, DEFAULT_SLOW_SUCCESS_MS, startSimulator } from './server.ts';

const DEFAULT_PORT = 8090;
const MAX_PORT = 65_535;
const MAX_DELAY_MS = 60 * 60 * 1_000;

/** The simulator as a process of its own, until SIGTERM or SIGINT. */
async function main(): Promise<void> {
  const simulator = await startSimulator({
    port: integerFrom('SIMULATOR_PORT', DEFAULT_PORT, MAX_PORT),
    delayMs: integerFrom('SIMULATOR_DELAY_MS', DEFAULT_DELAY_MS, MAX_DELAY_MS),
    slowSuccessMs: integerFrom('SIMULATOR_SLOW_SUCCESS_MS', DEFAULT_SLOW_SUCCESS_MS, MAX_DELAY_MS),
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => void simulator.close().then(() => process.exit(0)));
  }
  console.log(`Gateway simulator listening on ${simulator.url}`);
}

function integerFrom(name: string, fallback: number, max: number): number {
  const text = process.env[name] || String(fallback);
  const value = Number(text);
  if (/^\d+$/.test(text) && value <= max) return value;
  throw new Error(`${name} must be an integer from 0 to ${max}`);
}

function explain(error: NodeJS.ErrnoException & { port?: number }): string {
  if (error.code === 'EADDRINUSE') return `Port ${error.port} is already in use`;
  return error.message;
}

main().catch((error) => {
  console.error(`Gateway simulator cannot start: ${explain(error)}`);
  process.exit(1);
});
