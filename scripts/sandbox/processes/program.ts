import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename, dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { EmbeddedServiceError, embeddedFailure, explainError } from './embedded-service-error.ts';
import type { Reaper } from './reaper.ts';
import { runAs, type ServerUser } from './server-user.ts';

const READY_TIMEOUT_MS = 120_000;
const STOP_GRACE_MS = 30_000;
const OUTPUT_DRAIN_MS = 5_000;
const BARE_ENV = { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' };

export interface ProgramOptions {
  /** Its name in messages. */
  name: string;
  command: string;
  args: readonly string[];
  cwd: string;
  /** By default the launcher's variables do not reach it: PGOPTIONS is for another server. */
  env?: NodeJS.ProcessEnv;
  /** Another user to run as. */
  user?: ServerUser | null;
  reaper: Reaper;
  /** The line of output by which it says that it is ready. */
  ready: RegExp;
  /** How long that may take; a minute by default. */
  readyTimeoutMs?: number;
  /** The line that says why it is not, for which there is advice; else the last line does. */
  complaint?: RegExp;
  onLine?: (line: string) => void;
  /** The signal that ends it in good order. */
  stopSignal?: NodeJS.Signals;
  /** Removes its data after stop(). */
  removeData?: () => Promise<void>;
}

/**
 * Starts a program and returns once it is ready.
 * @throws EmbeddedServiceError with its complaint; it does not run any more then.
 */
export async function startProgram(options: ProgramOptions): Promise<Program> {
  const program = new Program(options);
  await program.start();
  return program;
}

/** A program that the reaper ends if this process disappears. */
export class Program {
  /** Resolves with the way in which it ended, e.g. `exit status 1`. */
  exited!: Promise<string>;
  readonly #options: ProgramOptions;
  #child!: Awaited<ReturnType<typeof spawnChild>>;
  #isStopped = false;
  #lastLine = '';

  constructor(options: ProgramOptions) {
    this.#options = options;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async start(): Promise<void> {
    const { name, cwd, ready, complaint, onLine, reaper } = this.#options;
    this.#child = await spawnChild(this.#options);
    this.exited = exitOf(this.#child, reaper);
    this.#isStopped = false;
    let cause: string | undefined;
    const isReady = new Promise<null>((resolve) => {
      const read = (line: string) => {
        if (complaint?.test(line)) cause ??= line;
        if (line.trim() !== '') this.#lastLine = line;
        onLine?.(line);
        if (ready.test(line)) resolve(null);
      };
      createInterface({ input: this.#child.stdout }).on('line', read);
      createInterface({ input: this.#child.stderr }).on('line', read);
    });
    const timeoutMs = this.#options.readyTimeoutMs ?? READY_TIMEOUT_MS;
    const late = delay(timeoutMs, 'it did not become ready in time', { ref: false });
    const problem = await Promise.race([isReady, this.exited, late]);
    if (problem === null) return;
    await this.#end('SIGKILL');
    const said = cause ?? (this.#lastLine || problem);
    if (!complaint) throw new EmbeddedServiceError(`${name} did not start: ${said}`);
    throw embeddedFailure(`${name} did not start (${problem})`, said, cwd);
  }

  /** Ends it, by SIGKILL when its own signal takes too long. */
  async stop(): Promise<void> {
    await this.#end(this.#options.stopSignal ?? 'SIGTERM');
    await this.#options.removeData?.();
  }

  async restart(): Promise<void> {
    await this.#end(this.#options.stopSignal ?? 'SIGTERM');
    await this.start();
  }

  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Holds it with its connections open: it looks hung, as behind a lost network. */
  pause(): void {
    this.#child.kill('SIGSTOP');
  }

  resume(): void {
    this.#child.kill('SIGCONT');
  }

  /** Calls the listener if the program ends before it is told to. */
  onExit(listener: (message: string) => void): void {
    const { pid, exited } = this;
    void exited.then((how) => {
      if (this.#isStopped) return;
      const { name } = this.#options;
      listener(`${name} (pid ${pid}) ended by itself (${how}); it last said: ${this.#lastLine}`);
    });
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    this.#isStopped = true;
    this.#child.kill(signal);
    // A paused program sees the signal only when it goes on.
    this.#child.kill('SIGCONT');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_GRACE_MS);
    await this.exited;
    clearTimeout(timer);
  }
}

async function spawnChild(options: ProgramOptions) {
  const { command, args, cwd, env = BARE_ENV, user = null, stopSignal, reaper } = options;
  try {
    const child = spawn(command, args, {
      cwd,
      env,
      ...runAs(user),
      // A session of its own: Ctrl-C at the terminal reaches the launcher alone, which then
      // stops everything in order.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    if (child.pid) reaper.watch(child.pid, { signal: stopSignal });
    await once(child, 'spawn');
    return child;
  } catch (error) {
    throw explainError(error, `${basename(command)} could not be run`, dirname(command));
  }
}

/** Resolves after the last line of output, unless children that live longer hold that up. */
function exitOf(child: ChildProcess, reaper: Reaper): Promise<string> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => {
      reaper.unwatch(child.pid!);
      const how = signal ?? `exit status ${code}`;
      child.once('close', () => resolve(how));
      setTimeout(resolve, OUTPUT_DRAIN_MS, how).unref();
    });
  });
}
