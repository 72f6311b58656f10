import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { openRunFolder } from '../../../scripts/sandbox/run-folder.ts';
import { makeFolder } from '../../support/make-folder.ts';

describe('The folder of a sandbox', () => {
  let folder: string;
  const file = () => join(folder, 'sandbox.json');
  const published = () => JSON.parse(readFileSync(file(), 'utf8'));

  beforeEach(() => {
    folder = makeFolder('sandboxes');
  });

  it('has what the links lead to, for this user only, and no credentials after the end', () => {
    const run = openRunFolder(folder);
    writeFileSync(join(run.logs, 'web.log'), 'ready');
    run.publish({ number: 1 });
    expect(published()).to.deep.equal({ number: 1 });
    expect(statSync(file()).mode & 0o777).to.equal(0o600);
    run.end();
    expect([existsSync(file()), existsSync(run.file)]).to.deep.equal([false, false]);
    expect(readFileSync(join(folder, 'logs', 'web.log'), 'utf8')).to.equal('ready');
  });

  it('is not that of another sandbox, and the links lead to the newest that runs', () => {
    const first = openRunFolder(folder);
    first.publish({ number: 1 });
    const second = openRunFolder(folder);
    expect(published()).to.deep.equal({ number: 1 });
    second.publish({ number: 2 });
    expect(published()).to.deep.equal({ number: 2 });
    expect(JSON.parse(readFileSync(first.file, 'utf8'))).to.deep.equal({ number: 1 });
    writeFileSync(join(first.logs, 'web.log'), 'first');
    second.end();
    expect(published()).to.deep.equal({ number: 1 });
    expect(readFileSync(join(folder, 'logs', 'web.log'), 'utf8')).to.equal('first');
  });

  it('leaves the links to the first when a second one cannot start', () => {
    const first = openRunFolder(folder);
    first.publish({ number: 1 });
    writeFileSync(join(first.logs, 'web.log'), 'first');
    openRunFolder(folder).end();
    expect(published()).to.deep.equal({ number: 1 });
    expect(readFileSync(join(folder, 'logs', 'web.log'), 'utf8')).to.equal('first');
  });

  it('goes with the next start when its process is gone', () => {
    const ended = spawnSync(process.execPath, ['-e', '']).pid;
    mkdirSync(join(folder, `run-${ended}-1-abc`));
    const run = openRunFolder(folder);
    const runs = readdirSync(folder).filter((name) => name.startsWith('run-'));
    expect(runs.map((name) => join(folder, name))).to.deep.equal([run.path]);
  });
});
