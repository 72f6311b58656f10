import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { RETENTION_TICK_MS, removeOldOnSchedule } from '../../src/workers/schedules.ts';
import { insertOldCallbacks, refuseToDelete } from '../support/retention.ts';
import { startTestService } from '../support/test-service.ts';
import {
  countOf,
  eventually,
  newCompletedCollection,
  rejection,
  useService,
} from '../support/world.ts';

describe('The daily removal of old rows', () => {
  const service = useService({ merchant: 'none' });

  const round = () => removeOldOnSchedule(service, new AbortController().signal);
  const letDayPass = () =>
    service.rows(`UPDATE leases SET held_until = now() WHERE name = 'retention'`);
  const insertOld = () => insertOldCallbacks(service.database);
  /** How long no process starts a run. */
  const heldFor = async () => {
    const row = await service.firstRow<{ held: string }>(
      `SELECT CASE WHEN held_until <= now() THEN 'over'
         WHEN held_until <= now() + :tick * interval '1 millisecond' THEN 'a tick at most'
         WHEN held_until > now() + interval '23 hours' THEN 'a day' END AS held
       FROM leases WHERE name = 'retention'`,
      { tick: RETENTION_TICK_MS },
    );
    return row?.held;
  };

  it('runs once a day, however many processes ask, and is audited', async () => {
    await insertOld();
    await letDayPass();
    await Promise.all([round(), round()]);
    expect(await service.countOf('callbacks')).to.equal(0);
    const audits = await service.rows('SELECT actor, action, details FROM audit_log');
    expect(audits).to.deep.equal([
      { actor: 'schedule', action: 'retention.run', details: { rows: 1 } },
    ]);
    await insertOld();
    await round();
    expect(await service.countOf('callbacks')).to.equal(1);
    await letDayPass();
    await round();
    expect(await service.countOf('callbacks')).to.equal(0);
  });

  it('fails when a table could not be done, and tries again soon, but not at once', async () => {
    const letGo = await refuseToDelete(service.owner);
    await letDayPass();
    const error = await rejection(round());
    expect(error.message).to.equal('Old rows not removed from callbacks');
    // Nothing is due right after it.
    await round();
    expect(await heldFor()).to.equal('a tick at most');
    await letGo();
    await letDayPass();
    await round();
    expect(await service.countOf('callbacks')).to.equal(0);
  });

  it('runs again soon after it was stopped, and not only the next day', async () => {
    await insertOld();
    await letDayPass();
    await removeOldOnSchedule(service, AbortSignal.abort());
    expect(await service.countOf('callbacks')).to.equal(1);
    expect(await heldFor()).to.equal('a tick at most');
    await letDayPass();
    await round();
    expect(await service.countOf('callbacks')).to.equal(0);
    expect(await heldFor()).to.equal('a day');
  });

  it('lets another run start while it runs, because it may be killed', async () => {
    await insertOld();
    await letDayPass();
    const report = await service.database.transaction();
    await rows(report, 'LOCK TABLE callbacks');
    const first = round();
    await eventually('the first waits', () =>
      service.firstRow(`SELECT 1 FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'`),
    );
    const held = await heldFor();
    await letDayPass();
    const second = round();
    await report.rollback();
    await Promise.all([first, second]);
    expect(held).to.equal('a tick at most');
    expect(await service.countOf('callbacks')).to.equal(0);
    expect(await heldFor()).to.equal('a day');
  });

  it('leaves an old payment for its merchant to read', async () => {
    const merchant = await service.newMerchant();
    const { id, ref_no } = await newCompletedCollection(service.database, merchant);
    await service.rows(
      `INSERT INTO attempts (merchant_id, payment_kind, payment_id, attempt_no, result, started_at)
       VALUES (:merchant_id, 'collection', :id, 1, 'acknowledged', now() - interval '14 months')`,
      { merchant_id: merchant.merchant_id, id },
    );
    await letDayPass();
    await round();
    expect(await service.countOf('attempts')).to.equal(0);
    const client = service.clientOf(merchant);
    const detail = await client.get(`/collections/checkouts/${id}`);
    expect(detail.body).to.include({ id, status: 'completed', ref_no });
    const list = await client.get('/collections/checkouts');
    expect(list.body.results.map((each: { id: string }) => each.id)).to.deep.equal([id]);
  });

  it('is one of the dispatcher’s rounds', async () => {
    const dispatching = await startTestService({ backend: 'postgres', workers: ['dispatcher'] });
    await eventually('a first run', async () =>
      countOf(dispatching.database, "leases WHERE name = 'retention'"),
    );
    await dispatching.close();
  });
});
