import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceProcess } from '../../scripts/sandbox/service-process.ts';
import { type StackOptions, type StackType, startProcess } from '../../scripts/sandbox/stack.ts';
import { PROGRAMS_FROM } from './programs.ts';

const RESTART_DELAY_MS = 1_000;
const GIVE_UP_MS = 240_000;

/** Processes by name, several of a type where it says so. */
export interface Crew {
  /**
   * SIGKILL, and for `downMs` nothing in its place; then it is started, as often as it takes.
   * One that is down already comes up again first.
   */
  crash(name: string, downMs: number): Promise<void>;
  /** Freezes it where it is, until `resume`. */
  pause(name: string): void;
  resume(name: string): void;
  stop(): Promise<void>;
}

/** Starts all of them at once. */
export async function startCrew(
  members: Readonly<Record<string, StackType>>,
  options: StackOptions,
): Promise<Crew> {
  const running = new Map<string, ServiceProcess>();
  const start = async (name: string) => {
    running.set(
      name,
      await startProcess(members[name]!, { ...options, from: PROGRAMS_FROM }, name),
    );
  };
  await Promise.all(Object.keys(members).map(start));
  const up = new Map<string, Promise<void>>();
  return {
    crash: (name, downMs) => {
      const crashed = (up.get(name) ?? Promise.resolve()).then(async () => {
        await running.get(name)!.kill();
        await sleep(downMs);
        await insist(() => start(name));
      });
      up.set(name, crashed);
      return crashed;
    },
    pause: (name) => running.get(name)!.pause(),
    resume: (name) => running.get(name)!.resume(),
    stop: async () => {
      await Promise.all([...running.values()].map((child) => child.stop()));
    },
  };
}

/** As a supervisor does: a process that finds its stores away exits, and is started again. */
async function insist(start: () => Promise<void>): Promise<void> {
  const deadline = Date.now() + GIVE_UP_MS;
  for (;;) {
    const error = await start().then(
      () => null,
      (reason: Error) => reason,
    );
    if (!error) return;
    if (Date.now() > deadline) throw error;
    await sleep(RESTART_DELAY_MS);
  }
}
