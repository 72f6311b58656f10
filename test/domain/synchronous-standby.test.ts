import { expect } from 'chai';
import { standbysOf } from '../../src/domain/upkeep/commit-settings.ts';
import {
  forgetStandbys,
  noteMarked,
  otherDatabase,
  resumeHere,
} from '../../src/domain/upkeep/other-database.ts';
import { createStandbyWatch } from '../../src/domain/upkeep/synchronous-standby.ts';
import { SECOND_MS } from '../../src/time.ts';
import { rejection, useStore } from '../support/world.ts';

describe('The standbys that are sure to have every commit', () => {
  for (const [names, standbys] of [
    ['second', ['second']],
    ['"Second"', ['second']],
    ['FIRST 1 (second)', ['second']],
    ['2 (second, third)', ['second', 'third']],
    ['ANY 2 (second, "third")', ['second', 'third']],
    // Any of these may lack some.
    ['second, third', null],
    ['FIRST 1 (second, third)', null],
    ['ANY 1 (second, third)', null],
    ['*', null],
    ['FIRST 1 (*)', null],
    ['', null],
    // Two servers of one name.
    ['FIRST 2 (second, SECOND)', null],
  ] as const) {
    it(`are ${standbys?.join(' and ') ?? 'none'} of synchronous_standby_names '${names}'`, () => {
      const shared = [''];
      expect(standbysOf({ names, commit: 'on', shared })).to.deep.equal(standbys);
      expect(standbysOf({ names, commit: 'remote_apply', shared })).to.deep.equal(standbys);
      for (const commit of ['off', 'local', 'remote_write'])
        expect(standbysOf({ names, commit, shared }), commit).to.equal(null);
    });
  }

  it('are none where a name does not tell one server', () => {
    const settings = { names: 'FIRST 2 (second, third)', commit: 'on' };
    expect(standbysOf({ ...settings, shared: ['third'] })).to.equal(null);
    expect(standbysOf({ ...settings, shared: ['first'] })).to.deep.equal(['second', 'third']);
  });
});

describe('A server that has taken over', () => {
  const store = useStore({ fresh: true });
  const SYSTEM = "'system 1, timeline 00000002, database 5'";
  const HERE = 'database_identity()';

  /** The server of the tests has no cluster_name. */
  async function failedOver({ seen_on = BEFORE, ...rest }: Record<string, string> = {}) {
    const columns = { standbys: "ARRAY['']", ...rest };
    const watch = Object.entries(columns).map((pair) => pair.join(' = '));
    await store.rewrite(`UPDATE installation SET marked_on = NULL, seen_on = ${seen_on}`);
    await store.rewrite(`UPDATE standby_watch SET ${watch.join(', ')}`);
  }
  const BEFORE = "regexp_replace(database_identity(), 'timeline [^,]+', 'timeline 00000009')";
  const newWatch = () => createStandbyWatch(store.database);
  const look = (watch = newWatch()) => watch.look();

  /** Looks of dispatchers that have worked with the server before. The first one watches. */
  async function watches(count = 1) {
    await failedOver({ seen_on: HERE, noted_by: 'NULL' });
    const all = Array.from({ length: count }, newWatch);
    for (const watch of all) await watch.look();
    return all;
  }
  const isOther = async () => (await otherDatabase(store.database)) !== null;

  it('goes on if the server before waited for it, once, and the audit log has it', async () => {
    const all = await watches(3);
    await failedOver();
    const looks = await Promise.all(all.map((watch) => watch.look()));
    expect(looks.filter((found) => found?.line.startsWith('payments go on'))).to.have.length(1);
    expect(await isOther()).to.equal(false);
    const audit = await store.rows(
      "SELECT actor FROM audit_log WHERE action = 'restore.resume' AND reason IS NOT NULL",
    );
    expect(audit).to.deep.equal([{ actor: 'dispatcher' }]);
  });

  for (const [what, settings, why] of [
    ['of another system', { seen_on: SYSTEM }, 'no standby of the server before'],
    ['that nobody has noted', { standbys: 'NULL' }, 'did not wait for'],
    ['of another name', { standbys: "ARRAY['second']" }, 'did not wait for'],
    ['that lacks an acknowledged note', { number: 'number - 1' }, 'lacks what the server before'],
    ['that another dispatcher watched', { noted_by: 'gen_random_uuid()' }, 'knows nothing'],
  ] as const) {
    it(`waits for an operator if it is one ${what}`, async () => {
      const [watch] = await watches();
      await failedOver(settings);
      expect((await look(watch))?.line).to.include(why);
      expect(await isOther()).to.equal(true);
    });
  }

  for (const [what, seconds, why] of [
    ['is 6 seconds ahead', 6, 'its clock'],
    ['is 6 seconds behind', -6, 'its clock'],
    ['says that it took over after 5 minutes', 301, 'too late'],
  ] as const) {
    it(`waits for an operator if the clock of the dispatcher ${what}`, async () => {
      const [watch] = await watches();
      await failedOver();
      const { now } = performance;
      performance.now = () => now.call(performance) + seconds * SECOND_MS;
      try {
        expect((await look(watch))?.line).to.include(why);
      } finally {
        performance.now = now;
      }
      expect(await isOther()).to.equal(true);
      // Nothing is lost by a wrong refusal: the next look may know better.
      expect((await look(watch))?.line).to.include('payments go on');
    });
  }

  it('is left to the dispatcher that watched, in any order of their looks', async () => {
    const [watching, other] = await watches(2);
    await failedOver();
    expect((await look(other))?.line).to.include('knows nothing of the server before');
    expect(await isOther()).to.equal(true);
    expect((await look(watching))?.line).to.include('payments go on');
  });

  it('is left to an operator if it lacks a note of the dispatcher that watched, in any order of their looks', async () => {
    const [watching, other] = await watches(2);
    await failedOver({ number: 'number - 1' });
    for (const watch of [other, watching, other]) await look(watch);
    expect(await isOther()).to.equal(true);
  });

  it('is left to another dispatcher once the one before has not been heard of for 6 minutes', async () => {
    const [gone, next] = await watches(2);
    await failedOver({ seen_on: HERE, noted_at: "clock_timestamp() - interval '5 minutes'" });
    await look(next);
    await failedOver();
    expect((await look(next))?.line, 'too early').to.include('knows nothing');
    await failedOver({ seen_on: HERE, noted_at: "clock_timestamp() - interval '7 minutes'" });
    await look(next);
    await failedOver();
    expect((await look(gone))?.line).to.include('knows nothing');
    expect((await look(next))?.line).to.include('payments go on');
  });

  it('is an operator’s after an answer that has not come: payments may have gone on elsewhere', async () => {
    const [watch] = await watches();
    await failedOver();
    await store.rewrite('ALTER TABLE audit_log ADD CONSTRAINT cut CHECK (false) NOT VALID');
    try {
      expect(String(await rejection(look(watch)))).to.include('cut');
    } finally {
      await store.rewrite('ALTER TABLE audit_log DROP CONSTRAINT cut');
    }
    expect((await look(watch))?.line).to.include('knows nothing');
    expect(await isOther()).to.equal(true);
  });

  it('is watched again once an operator has let payments go on', async () => {
    const [watch] = await watches();
    await failedOver({ number: 'number - 1' });
    await look(watch);
    await store.transaction((trx) => resumeHere(trx, true));
    await look(watch);
    await failedOver();
    expect((await look(watch))?.line).to.include('payments go on');
  });

  it('is an operator’s if an operator has let payments go on at another server since', async () => {
    const [watch] = await watches();
    await failedOver({ number: 'number - 1' });
    expect((await look(watch))?.line).to.include('lacks what the server before');
    await store.transaction((trx) => resumeHere(trx, true));
    await failedOver({ number: 'number + 10' });
    expect((await look(watch))?.line).to.include('knows nothing');
    expect(await isOther()).to.equal(true);
  });

  it('is watched at once by another dispatcher if the one before has ended well', async () => {
    const [ended, next] = await watches(2);
    await ended!.release();
    await look(next);
    await failedOver();
    expect((await look(ended))?.line).to.include('knows nothing');
    expect((await look(next))?.line).to.include('payments go on');
  });

  it('has no standbys at first, so the next one to take over is an operator’s', async () => {
    const [watch] = await watches();
    await failedOver();
    await look(watch);
    await store.rewrite(`UPDATE installation SET seen_on = ${BEFORE}`);
    expect((await look(watch))?.line).to.include('did not wait for');
    expect(await isOther()).to.equal(true);
  });

  it('is an operator’s if it was a standby of the server before the one that went on', async () => {
    const [watch] = await watches();
    const [before] = await store.rows<{ number: number }>('SELECT number FROM standby_watch');
    await failedOver();
    await look(watch);
    await failedOver({ number: String(before!.number) });
    expect((await look(watch))?.line).to.include('lacks what the server before');
    expect(await isOther()).to.equal(true);
  });

  it('waits for an operator, or another dispatcher, if the dispatcher has just started', async () => {
    await failedOver();
    expect((await look())?.line).to.include('knows nothing of the server before');
    expect(await isOther()).to.equal(true);
  });

  it('waits for an operator who has begun to mark its payments', async () => {
    const [watch] = await watches();
    await failedOver();
    await forgetStandbys(store.database);
    expect((await look(watch))?.line).to.include('knows nothing');
    expect(await isOther()).to.equal(true);
  });

  it('is sure of no standby while a role or a database may commit without it', async () => {
    await store.rewrite(`DO $$ BEGIN EXECUTE format(
      'ALTER DATABASE %I SET synchronous_commit = local', current_database()); END $$`);
    try {
      await failedOver({ seen_on: HERE, noted_by: 'NULL' });
      expect((await look())?.line).to.include('synchronous_commit=local');
    } finally {
      await store.rewrite(`DO $$ BEGIN EXECUTE format(
        'ALTER DATABASE %I RESET synchronous_commit', current_database()); END $$`);
    }
  });

  it('waits for an operator who has marked its payments', async () => {
    const [watch] = await watches();
    await failedOver();
    await store.transaction(noteMarked);
    expect(await look(watch)).to.equal(null);
    expect(await isOther()).to.equal(true);
  });

  it('is looked at while it is the one before: nobody is waited for, as its log says', async () => {
    await failedOver({ seen_on: HERE, noted_by: 'NULL', number: '1000' });
    expect((await look())?.line).to.include("synchronous_standby_names=''");
    const [noted] = await store.rows('SELECT standbys, number FROM standby_watch');
    expect(noted).to.deep.equal({ standbys: null, number: 1_001 });
  });
});
