import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { startReaper } from '../../../../scripts/sandbox/processes/reaper.ts';
import {
  eventually,
  isRunning,
  killAll,
  type Launched,
  launch,
  temporaryFolder,
} from './launched.ts';
import type { LauncherPlan } from './launcher.ts';

const IDLE = 'setInterval(() => {}, 60000)';
const STUBBORN = `process.on('SIGTERM', () => {}); ${IDLE}`;

describe('the reaper', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let launched: Launched[] = [];

  beforeEach(async () => {
    folder = await temporaryFolder();
  });

  afterEach(async () => {
    for (const { launcher, report } of launched) killAll([launcher.pid, ...report.pids]);
    launched = [];
    await folder.remove();
  });

  async function start(plan: LauncherPlan): Promise<{ launcher: number; pids: number[] }> {
    const one = await launch(plan);
    launched.push(one);
    return { launcher: one.launcher.pid!, pids: one.report.pids };
  }

  async function allEnded(pids: number[]): Promise<void> {
    await eventually('all processes have ended', () => !pids.some(isRunning));
  }

  it('ends every process that it watches when the launcher is killed', async () => {
    const children = [1, 2, 3].map(() => ({ script: IDLE, watch: {} }));
    const { launcher, pids } = await start({ children });
    expect(pids.every(isRunning)).to.equal(true);
    process.kill(launcher, 'SIGKILL');
    await allEnded(pids);
  });

  it('sends the signal that was asked for first', async () => {
    const mark = join(folder.path, 'interrupted');
    const write = `require('node:fs').writeFileSync(${JSON.stringify(mark)}, '')`;
    const script = `process.on('SIGINT', () => { ${write}; process.exit() }); ${IDLE}`;
    const { launcher, pids } = await start({ children: [{ script, watch: { signal: 'SIGINT' } }] });
    process.kill(launcher, 'SIGKILL');
    await allEnded(pids);
    expect(existsSync(mark)).to.equal(true);
  });

  it('kills a process that ignores the signal', async () => {
    const children = [{ script: STUBBORN, watch: { graceMs: 100 } }];
    const { launcher, pids } = await start({ children });
    process.kill(launcher, 'SIGKILL');
    await allEnded(pids);
  });

  it('ends a process that is paused', async () => {
    const children = [{ script: IDLE, watch: {}, pause: true }];
    const { launcher, pids } = await start({ children });
    process.kill(launcher, 'SIGKILL');
    await allEnded(pids);
  });

  it('removes the folders with all that is in them', async () => {
    const doomed = join(folder.path, "doomed by the shell's $HOME");
    const kept = join(folder.path, 'kept');
    await mkdir(join(doomed, 'deep', 'deeper'), { recursive: true });
    await writeFile(join(doomed, 'deep', 'deeper', 'file'), 'text');
    await mkdir(kept);
    const { launcher } = await start({ removeFolders: [doomed] });
    process.kill(launcher, 'SIGKILL');
    await eventually('the folder is gone', () => !existsSync(doomed));
    expect(existsSync(kept)).to.equal(true);
  });

  it('leaves alone what it no longer watches', async () => {
    const { launcher, pids } = await start({
      children: [
        { script: IDLE, watch: {}, unwatch: true },
        { script: IDLE, watch: {} },
      ],
    });
    process.kill(launcher, 'SIGKILL');
    await allEnded(pids.slice(1));
    expect(isRunning(pids[0]!)).to.equal(true);
  });

  it('cleans up after a launcher that exits without closing it', async () => {
    const { pids } = await start({ children: [{ script: IDLE, watch: {} }], end: 'exit' });
    await allEnded(pids);
  });

  it('cleans up after a launcher that is interrupted at the terminal', async () => {
    const { launcher, pids } = await start({ children: [{ script: IDLE, watch: {} }] });
    process.kill(-launcher, 'SIGINT');
    await allEnded([launcher, ...pids]);
  });

  it('ends and removes nothing once it is closed', async () => {
    const plan: LauncherPlan = {
      children: [{ script: IDLE, watch: {} }],
      removeFolders: [folder.path],
      end: 'close and exit',
    };
    const { launcher, pids } = await start(plan);
    // close() returns after the reaper's own end, so nothing can follow the launcher's.
    await eventually('the launcher has left', () => !isRunning(launcher));
    expect(isRunning(pids[0]!)).to.equal(true);
    expect(existsSync(folder.path)).to.equal(true);
  });

  it('can be closed twice', async () => {
    const reaper = await startReaper();
    await reaper.close();
    await reaper.close();
  });

  it('refuses what must never be ended or removed', async () => {
    const reaper = await startReaper();
    try {
      for (const pid of [-5, 0, 1, 1.5, Number.NaN]) {
        expect(() => reaper.watch(pid)).to.throw(RangeError);
      }
      for (const path of ['/', '', '.', 'relative', '/two\nlines']) {
        expect(() => reaper.removeFolder(path)).to.throw(RangeError);
      }
    } finally {
      await reaper.close();
    }
  });
});
