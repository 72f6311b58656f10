interface RunningSimulator {
  url: string;
  close(): Promise<void>;
}

/**
 * Runs a simulator as a process of its own, until SIGTERM or SIGINT. Says in one line where it
 * listens, or why it cannot start.
 */
export async function runSimulator(
  name: string,
  start: () => Promise<RunningSimulator>,
): Promise<void> {
  try {
    const simulator = await start();
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => void simulator.close().then(() => process.exit(0)));
    }
    console.log(`${name} listening on ${simulator.url}`);
  } catch (error) {
    console.error(`${name} cannot start: ${explain(error as Error)}`);
    process.exit(1);
  }
}

/**
 * Reads an integer from the environment.
 * @throws Error for anything but an integer from 0 to `max`.
 */
export function integerFrom(name: string, fallback: number, max: number): number {
  const text = process.env[name] || String(fallback);
  const value = Number(text);
  if (/^\d+$/.test(text) && value <= max) return value;
  throw new Error(`${name} must be an integer from 0 to ${max}`);
}

function explain(error: NodeJS.ErrnoException & { port?: number }): string {
  if (error.code === 'EADDRINUSE') return `Port ${error.port} is already in use`;
  return error.message;
}
