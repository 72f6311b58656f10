import { expect } from 'chai';
import { noteMarked, otherDatabase } from '../../src/domain/upkeep/other-database.ts';
import {
  createStandbyWatch,
  forgetStandbys,
  standbysOf,
} from '../../src/domain/upkeep/synchronous-standby.ts';
import { useStore } from '../support/world.ts';

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
      expect(standbysOf({ names, commit: 'on' })).to.deep.equal(standbys);
      expect(standbysOf({ names, commit: 'remote_apply' })).to.deep.equal(standbys);
      for (const commit of ['off', 'local', 'remote_write'])
        expect(standbysOf({ names, commit }), commit).to.equal(null);
    });
  }
});

describe('A server that has taken over', () => {
  const store = useStore({ fresh: true });
  const SYSTEM = "'system 1, timeline 00000002, database 5'";
  const HERE = 'database_identity()';

  /** The server of the tests has no cluster_name. */
  const failedOver = (settings: Record<string, string> = {}) => {
    const before = "regexp_replace(database_identity(), 'timeline [^,]+', 'timeline 00000009')";
    const all = { seen_on: before, standbys: "ARRAY['']", standbys_at: 'now()', ...settings };
    const columns = Object.entries(all).map(([column, value]) => `${column} = ${value}`);
    return store.rewrite(`UPDATE installation SET marked_on = NULL, ${columns.join(', ')}`);
  };
  const look = (watch = createStandbyWatch(store.database)) => watch();

  /** Looks of dispatchers that have worked with the server before. */
  async function watches(count = 1) {
    await failedOver({ seen_on: HERE });
    const all = Array.from({ length: count }, () => createStandbyWatch(store.database));
    for (const watch of all) await watch();
    return all;
  }
  const isOther = async () => (await otherDatabase(store.database)) !== null;

  it('goes on if the server before waited for it, once, and the audit log has it', async () => {
    const all = await watches(3);
    await failedOver();
    const looks = await Promise.all(all.map((watch) => watch()));
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
    ['whose clock is behind', { standbys_at: "now() + interval '6 seconds'" }, 'its clock'],
    ['whose clock is ahead', { standbys_at: "now() - interval '6 seconds'" }, 'its clock'],
  ] as const) {
    it(`waits for an operator if it is one ${what}`, async () => {
      const [watch] = await watches();
      await failedOver(settings);
      expect((await look(watch))?.line).to.include(why);
      expect(await isOther()).to.equal(true);
    });
  }

  it('waits for an operator if it lacks a note that a dispatcher has seen acknowledged', async () => {
    const [knowsLess, knows] = await watches(2);
    await failedOver({ standbys_note: 'standbys_note - 1' });
    expect((await look(knows))?.line).to.include('lacks what the server before has acknowledged');
    // Whoever knows less decides nothing else.
    expect((await look(knowsLess))?.line).to.include('a dispatcher has refused it');
    expect(await isOther()).to.equal(true);
  });

  it('has no standbys at first, so the next one to take over is an operator’s', async () => {
    const [watch] = await watches();
    await failedOver();
    await look(watch);
    await store.rewrite(`UPDATE installation SET seen_on =
      regexp_replace(database_identity(), 'timeline [^,]+', 'timeline 00000009')`);
    expect((await look(watch))?.line).to.include('did not wait for');
    expect(await isOther()).to.equal(true);
  });

  it('waits for an operator, or another dispatcher, if the dispatcher has just started', async () => {
    await failedOver();
    expect((await look())?.line).to.include('has not worked with the server before');
    expect(await isOther()).to.equal(true);
  });

  it('waits for an operator who has begun to mark its payments', async () => {
    const [watch] = await watches();
    await failedOver();
    await forgetStandbys(store.database);
    expect((await look(watch))?.line).to.include('did not wait for');
    expect(await isOther()).to.equal(true);
  });

  it('is sure of no standby while a role or a database may commit without it', async () => {
    await store.rewrite(`DO $$ BEGIN EXECUTE format(
      'ALTER DATABASE %I SET synchronous_commit = local', current_database()); END $$`);
    await failedOver({ seen_on: HERE });
    expect((await look())?.line).to.include('synchronous_commit=local');
    await store.rewrite(`DO $$ BEGIN EXECUTE format(
      'ALTER DATABASE %I RESET synchronous_commit', current_database()); END $$`);
  });

  it('waits for an operator who has marked its payments', async () => {
    const [watch] = await watches();
    await failedOver();
    await store.transaction(noteMarked);
    expect(await look(watch)).to.equal(null);
    expect(await isOther()).to.equal(true);
  });

  it('is looked at while it is the one before: nobody is waited for, as its log says', async () => {
    await failedOver({ seen_on: HERE });
    expect((await look())?.line).to.include("synchronous_standby_names=''");
    const [noted] = await store.rows(
      'SELECT standbys, standbys_at IS NOT NULL AS is_noted FROM installation',
    );
    expect(noted).to.deep.equal({ standbys: null, is_noted: true });
  });
});
