import { execFile } from 'node:child_process';
import { expect } from 'chai';

/** Runs a process of the service that cannot start. @returns what it writes, and its status */
function start(
  program: string,
  env: Record<string, string>,
): Promise<{ stdout: string; stderr: string; status: unknown }> {
  const [name = '', ...args] = program.split(' ');
  const options = { env: { PATH: process.env.PATH, DATABASE_URL: 'none', ...env } };
  return new Promise((resolve) => {
    const command = ['--import', 'tsx', `src/main/${name}.ts`, ...args];
    execFile(process.execPath, command, options, (error, stdout, stderr) =>
      resolve({ stdout, stderr, status: error?.code }),
    );
  });
}

describe('A process that cannot start', () => {
  it('says why in a line of the log in production, as all its lines are', async () => {
    for (const [program, name] of [
      ['web', 'web'],
      ['console', 'console'],
      ['workers dispatcher', 'dispatcher'],
    ] as const) {
      const { stdout, stderr, status } = await start(program, { MALIPO_ENV: 'production' });
      expect([stderr, status], program).to.deep.equal(['', 1]);
      const line = JSON.parse(stdout);
      expect(line).to.include({ level: 'error', message: 'cannot start', process: name });
      expect(line.error).to.match(/^The configuration is not valid:\n(.*\n)* {2}DATABASE_URL must/);
    }
  });

  it('says why in plain words to a developer', async () => {
    const { stdout, stderr, status } = await start('web', {});
    expect([stdout, status]).to.deep.equal(['', 1]);
    expect(stderr).to.match(/^The configuration is not valid:\n {2}DATABASE_URL must[^\n]*\n$/);
  });
});
