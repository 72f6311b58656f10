import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startProgram } from '../../scripts/sandbox/processes/program.ts';
import { ROOT_FOLDER } from '../../scripts/sandbox/programs.ts';
import type { SandboxStaff } from '../../scripts/sandbox/seed-staff.ts';
import { environment } from './environment.ts';

/** It plays its demonstration first, and makes its trouble. */
const READY_TIMEOUT_MS = 360_000;

/** A sandbox that runs, and a part of what it has published. */
export interface TestSandbox {
  console_url: string;
  database_url: string;
  staff: SandboxStaff;
  more_staff: SandboxStaff[];
  stop(): Promise<void>;
}

/** Starts `npm run sandbox`, and returns when it is ready for people. */
export async function startTestSandbox(): Promise<TestSandbox> {
  let file = '';
  const program = await startProgram({
    ...{ name: 'sandbox', cwd: ROOT_FOLDER, reaper: environment.reaper },
    env: { PATH: process.env.PATH, PORT: '0', CONSOLE_PORT: '0', SIMULATOR_PORT: '0' },
    ...{ command: process.execPath, args: ['--import', 'tsx', 'scripts/sandbox/main.ts'] },
    ...{ ready: /^ {2}logs /, readyTimeoutMs: READY_TIMEOUT_MS },
    onLine: (line) => {
      file = /^ {2}credentials +(\S+)/.exec(line)?.[1] ?? file;
    },
  });
  const published = JSON.parse(readFileSync(join(ROOT_FOLDER, file), 'utf8'));
  return { ...published, stop: () => program.stop() };
}
