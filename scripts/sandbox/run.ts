import { BootError } from '../../src/process/lifecycle.ts';
import { demonstrate } from './demonstration.ts';
import { startMerchantReceiver } from './merchant-receiver.ts';
import { EmbeddedServiceError } from './processes/embedded-service-error.ts';
import type { RunFolder } from './run-folder.ts';
import { type MpesaGateway, type Sandbox, startSandbox } from './start.ts';
import { makeTrouble } from './trouble/make-trouble.ts';

/** Within this time a signal that comes again is the same one: npm passes on the terminal's. */
const SAME_SIGNAL_MS = 1_000;

export interface RunOptions {
  run: RunFolder;
  /** Ends after the demonstration. */
  exitAfterwards: boolean;
  /** For development: no demonstration, the logs as they come, and each change at work at once. */
  reload: boolean;
  mpesa: MpesaGateway;
}

/**
 * Starts the whole service, plays the demonstration and stays until it is told to stop.
 * Returns the exit status: 0 when the demonstration went as it should.
 */
export async function runSandbox(options: RunOptions): Promise<number> {
  const { run, exitAfterwards } = options;
  const stops: (() => Promise<unknown>)[] = [async () => run.end()];
  const stopSignal = signalled();
  try {
    const started = start(options, stops, stopSignal);
    const sandbox = await Promise.race([started, stopSignal]);
    // Stopped while starting: waits for what has begun, so that all of it can be ended.
    if (!sandbox) await started.catch(() => {});
    else if (exitAfterwards) say('\nDone.');
    else await stay(sandbox, stopSignal);
    return 0;
  } catch (error) {
    console.error(`\n${problemOf(error)}`);
    return 1;
  } finally {
    for (const stop of stops.reverse()) await stop().catch(() => {});
  }
}

/** Resolves at the first signal. A second one exits at once, and the reaper cleans up. */
function signalled(): Promise<undefined> {
  let firstAt: number | null = null;
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        firstAt ??= performance.now();
        if (performance.now() - firstAt > SAME_SIGNAL_MS) process.exit(1);
        resolve(undefined);
      });
    }
  });
}

async function start(
  options: RunOptions,
  stops: (() => Promise<unknown>)[],
  stopSignal: Promise<undefined>,
): Promise<Sandbox> {
  const { run, reload, mpesa } = options;
  const sandbox = await startSandbox({ run, stops, reload, mpesa, say });
  if (!reload) {
    const crashed = sandbox.crashed.then(fail);
    await Promise.race([show(options, sandbox, stops), crashed, stopSignal]);
  }
  return sandbox;
}

/** Plays payments that go well, and makes trouble to practise support on. */
async function show(
  { exitAfterwards }: RunOptions,
  sandbox: Sandbox,
  stops: (() => Promise<unknown>)[],
): Promise<void> {
  await demonstrate({ ...sandbox, say });
  const { troubled: merchant, team } = sandbox;
  const receiver = await startMerchantReceiver(merchant.app_secret);
  stops.push(() => receiver.close());
  const receiverUrl = receiver.url;
  try {
    await makeTrouble({ ...sandbox, merchant, receiverUrl, staff: team.colleagues, say });
  } catch (error) {
    if (exitAfterwards) throw error;
    // Payments can be tried without it.
    say(`\nNot all of the trouble to practise on could be made: ${problemOf(error)}`);
  }
}

async function stay(sandbox: Sandbox, stopSignal: Promise<undefined>): Promise<void> {
  say(whereToGoNext(sandbox));
  await Promise.race([stopSignal, sandbox.crashed.then(fail)]);
  say('\nStopping …');
}

function fail(problem: string): never {
  throw new EmbeddedServiceError(problem);
}

function whereToGoNext({ baseUrl, consoleUrl, team, folder }: Sandbox): string {
  const { staff } = team;
  return `
The sandbox runs until Ctrl-C.

  API          ${baseUrl}
  its manual   ${new URL('/docs', baseUrl)}
  begin with   ${new URL('/docs/guides/first-payment', baseUrl)}
  console      ${consoleUrl}
    e-mail     ${staff.email}
    password   ${staff.password}
    secret     ${staff.totp_secret} (of the one-time passwords, for an authenticator app)
  credentials  ${folder}/sandbox.json
  logs         ${folder}/logs/

Try it: take app_key and app_secret of a merchant from ${folder}/sandbox.json, get a token with
POST /auth/app/token, and initiate a collection as above. The last three digits of the phone
decide what the simulated gateway does; docs/sandbox.md has the list.`;
}

function problemOf(error: unknown): string {
  const expected =
    error instanceof EmbeddedServiceError ||
    error instanceof BootError ||
    (error as Error).name === 'ConfigError';
  return expected ? (error as Error).message : String((error as Error).stack);
}

function say(line: string): void {
  console.log(line);
}
