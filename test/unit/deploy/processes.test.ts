import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { DRIVERS } from '../../../src/gateways/registry.ts';
import { PROCESS } from '../../../src/process/settings/service.ts';
import { settingsWith } from '../../../src/process/settings.ts';
import { PROCESS_TYPES } from '../../../src/workers/start-workers.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const read = (file: string) => readFileSync(`${ROOT}/${file}`, 'utf8');

/** The commands of a Procfile, by name. Each replaces the shell of its manager, so that a signal reaches it. */
const processesOf = (file: string) =>
  new Map(
    [...read(file).matchAll(/^(\w+): exec (.+)$/gm)].map(([, name, command]) => [name!, command!]),
  );
const procfile = processesOf('Procfile.all');
const scripts: Record<string, string> = JSON.parse(read('package.json')).scripts;
const UNITS = readdirSync(`${ROOT}/deploy/systemd`).filter((name) => name.endsWith('.service'));
const compose = read('deploy/docker/compose.yaml');
const dockerfile = read('deploy/docker/Dockerfile');

/** Joins a list of words into one command. */
const commandOf = (words: string) => JSON.parse(words).join(' ');

/** The command that compose runs, by service. */
const composed = new Map(
  [...compose.matchAll(/^ {2}(\w+):\n {4}<<: \*malipo\n {4}command: (\[.+\])$/gm)].map(
    ([, name, words]) => [name!, commandOf(words!)],
  ),
);

function longestStop(text: string, pattern: RegExp): number[] {
  return [...text.matchAll(pattern)].map(([, seconds]) => Number(seconds) * 1_000);
}

describe('What is deployed', () => {
  it('is one process of each type, where a manager starts every line of the Procfile', () => {
    const { release: _ends, worker: _all, ...each } = Object.fromEntries(procfile);
    expect(Object.fromEntries(processesOf('Procfile'))).to.deep.equal(each);
  });

  it('is the release step, the web, the console, each type of worker and all in one, for platforms', () => {
    const types = ['release', 'web', 'console', ...PROCESS_TYPES, 'worker'];
    expect([...procfile.keys()]).to.have.members(types);
    for (const type of PROCESS_TYPES) {
      expect(procfile.get(type)).to.equal(`node dist/src/main/workers.js ${type}`);
    }
  });

  it('is a program that is built', () => {
    for (const command of procfile.values()) {
      const [, built] = /^node dist\/(\S+)\.js/.exec(command)!;
      expect(existsSync(`${ROOT}/${built}.ts`), command).to.equal(true);
    }
  });

  it('replaces the shell that npm starts, which would not pass signals on', () => {
    expect(scripts.start).to.equal(`exec ${procfile.get('web')}`);
    expect(`${scripts.worker} all`).to.equal(`exec ${procfile.get('worker')}`);
  });

  it('is the same under compose', () => {
    const { worker: _all, ...each } = Object.fromEntries(procfile);
    expect(Object.fromEntries(composed)).to.deep.equal(each);
    const [, words] = /^CMD (\[.+\])$/m.exec(dockerfile)!;
    expect(commandOf(words!)).to.equal(procfile.get('web'));
  });

  it('is the same under systemd', () => {
    const started = UNITS.map(
      (unit) => /^ExecStart=(.+)$/m.exec(read(`deploy/systemd/${unit}`))![1],
    );
    const each = '/bin/sh -c \'exec /usr/bin/node dist/src/main/workers.js "$${0%%%%-*}"\' %i';
    const others = ['release', 'web', 'console'].map((name) => `/usr/bin/${procfile.get(name)}`);
    expect(started).to.have.members([...others, each]);
    const wanted = [...read('deploy/systemd/malipo.target').matchAll(/malipo-worker@(\w+)-1/g)];
    expect(wanted.map(([, type]) => type)).to.have.members([...PROCESS_TYPES]);
  });

  it('has more time to stop than it takes', () => {
    const mostMs = PROCESS.SHUTDOWN_TIMEOUT_MS.parse(undefined);
    const stops = [
      ...UNITS.flatMap((unit) =>
        longestStop(read(`deploy/systemd/${unit}`), /^TimeoutStopSec=(\d+)$/gm),
      ),
      ...longestStop(compose, /stop_grace_period: (\d+)s/g),
    ];
    expect(stops).to.have.length(5);
    for (const stopMs of stops) expect(stopMs).to.be.above(mostMs);
  });

  it('has bounds under compose: memory, processors and processes', () => {
    // Those of the service have their bounds in common.
    const [common = '', services = ''] = compose.split(/^services:$/m);
    const others = services
      .split(/^ {2}(?=[a-z]+:$)/m)
      .filter((block) => block.includes('image: '));
    expect(others.map((block) => block.split(':')[0])).to.deep.equal(['postgres', 'redis']);
    for (const block of [common, ...others]) {
      expect(block).to.match(/mem_limit: \d+[mg]\n/);
      expect(block).to.match(/cpus: \d+\n/);
      expect(block).to.match(/pids_limit: \d+\n/);
      expect(block).to.include('no-new-privileges:true');
    }
  });

  it('knows the owner of the tables in the release step alone', () => {
    const blocks = compose.split(/^ {2}(?=[a-z]+:$)/m);
    const knowing = (text: RegExp) =>
      blocks.filter((block) => text.test(block)).map((block) => block.split(':')[0]);
    expect(knowing(/DATABASE_MIGRATION_URL/)).to.deep.equal(['release']);
    expect(compose.match(/postgres:\/\/malipo:\$\{MALIPO_PASSWORD/g)).to.have.length(1);
    expect(read('deploy/systemd/malipo.env')).to.not.include('DATABASE_MIGRATION_URL');
    const told = UNITS.filter((unit) => read(`deploy/systemd/${unit}`).includes('release.env'));
    expect(told).to.deep.equal(['malipo-release.service']);
  });

  it('comes from images of one version each, to the last number', () => {
    const images = [...compose.matchAll(/^ {4}image: (.+)$/gm)].map(([, image]) => image);
    expect(images).to.have.length(2);
    for (const image of images) expect(image).to.match(/^\w+:\d+(\.\d+){1,2}-bookworm$/);
    expect(dockerfile).to.match(/^ARG NODE_VERSION=\d+\.\d+\.\d+$/m);
    const from = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
    expect(from).to.have.length(2);
    for (const image of from) expect(image).to.match(/^node:\$\{NODE_VERSION\}-bookworm-slim$/);
  });

  it('has a Redis under compose that asks everybody for a password', () => {
    expect(compose).to.match(/--requirepass\n {6}- \$\{REDIS_PASSWORD:\?set it\}\n/);
    expect(compose).to.match(/REDIS_URL: redis:\/\/:\$\{REDIS_PASSWORD:\?set it\}@redis:6379\n/);
    expect(compose).to.not.match(/6379:|5432:\d/);
  });

  it('is given variables that exist', () => {
    const OTHERS = [
      'NODE_ENV',
      'NODE_VERSION',
      'POSTGRES_PASSWORD',
      'MALIPO_OWNER_PASSWORD',
      'MALIPO_PASSWORD',
      'REDIS_PASSWORD',
      'REDISCLI_AUTH',
    ];
    const texts = [
      ...UNITS.map((unit) => read(`deploy/systemd/${unit}`)),
      ...[
        read('deploy/systemd/malipo.env'),
        read('deploy/systemd/release.env'),
        compose,
        dockerfile,
      ],
    ];
    const named = texts.flatMap((text) => [
      ...text.matchAll(/\b(?!AF_)([A-Z]+(?:_[A-Z]+)+|PORT|HOST)\b/g),
    ]);
    const names = new Set(named.map(([, name]) => name!));
    const known = [...Object.keys(settingsWith(DRIVERS)), ...OTHERS];
    expect([...names].filter((name) => !known.includes(name))).to.deep.equal([]);
    expect(names.size).to.be.above(OTHERS.length);
  });
});
