import { expect } from 'chai';
import { firstRow, inTransaction, type Transaction } from '../../src/connections/database.ts';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import { refundPayout } from '../../src/domain/settlement/refund-payout.ts';
import {
  noteDatabase,
  noteMarked,
  otherDatabase,
  resumeHere,
} from '../../src/domain/upkeep/other-database.ts';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import { boot } from '../../src/main/boot.ts';
import { findCallbackBase, recordCallbackBase } from '../../src/service/callback-base.ts';
import { asSuperuser } from '../support/database.ts';
import { passDeadline } from '../support/discrepancies/scene.ts';
import { newEvent } from '../support/events.ts';
import {
  ACKNOWLEDGED,
  createTestStore,
  failed,
  newCollection,
  newPayout,
  parserOf,
  succeeded,
  type TestStore,
  useStore,
  workOn,
} from '../support/world.ts';

describe('A database that is not the one before', () => {
  const store = useStore({ fresh: true });

  const note = () => noteDatabase(store.database);
  const other = () => otherDatabase(store.database);
  const seenOn = async () =>
    (await store.firstRow<{ seen_on: string | null }>('SELECT seen_on FROM installation'))!.seen_on;

  /** What a backup of this database is, once it is restored. */
  async function restored(): Promise<TestStore> {
    await store.database.destroy();
    return createTestStore(store.name);
  }

  it('is not noticed when none was recorded, nor when it is the recorded one, however many processes start', async () => {
    expect(await other()).to.equal(null);
    expect(await Promise.all([note(), note(), note()])).to.deep.equal([null, null, null]);
    expect(await seenOn()).to.match(/^system \d+, timeline [0-9A-F]{8}, database \d+$/);
    expect(await other()).to.equal(null);
    expect(await store.workOn(await somePayout()).claim()).to.include({ attemptNo: 1 });
  });

  it('is recorded by the first process that starts, and by no command', async () => {
    for (const [name, isRecorded] of [
      ['admin', false],
      ['submission', true],
    ] as const) {
      const env = { DATABASE_URL: store.url, LOG_LEVEL: 'error' };
      const { database } = await boot(name, env);
      await database.destroy();
      expect((await seenOn()) !== null, name).to.equal(isRecorded);
    }
  });

  it('sends nothing and refunds nothing until an operator resumes, and then goes on', async () => {
    await note();
    const [payout, refused] = [await somePayout(), await somePayout()];
    await store.learn(refused, failed());
    await recordCallbackBase(store.database, 'http://127.0.0.1:5000');
    const { database, drop } = await restored();
    const work = workOn(database, payout);
    const refund = async () => {
      const { step_no } = await workOn(database, refused).current();
      return refundPayout(database, refOf(refused), step_no, { parserOf });
    };
    for (const start of [1, 2]) {
      expect(await noteDatabase(database), `start ${start}`).to.match(
        /^Nothing is sent, .* it was system \d+, .* now it is system \d+, .*operations\.md/,
      );
      expect(await work.claim()).to.equal(null);
      expect(await refund()).to.equal(false);
    }
    expect(await work.attempts()).to.deep.equal([]);
    // The address is that of the original.
    expect(await findCallbackBase(database)).to.equal(null);
    const resume = () => inTransaction(database, (trx) => resumeHere(trx, true));
    expect(await resume()).to.not.equal(null);
    expect(await resume()).to.equal(null);
    expect(await noteDatabase(database)).to.equal(null);
    expect(await findCallbackBase(database)).to.equal(null);
    expect(await work.claim()).to.include({ attemptNo: 1 });
    expect(await refund()).to.equal(true);
    await drop();
  });

  for (const [why, isPaused] of [
    ['on it', false],
    ['while everything is paused', true],
  ] as const) {
    it(`parks no collection as never taken ${why}, because its attempts may be forgotten`, async () => {
      await note();
      const scene = { database: store.database, merchant: await store.newMerchant() };
      const payment = await newCollection(store.database, scene.merchant);
      if (!isPaused) await pretendMoved();
      await passDeadline(scene, payment);
      const work = store.workOn(payment);
      expect(await work.claim(undefined, isPaused)).to.equal(null);
      expect(await work.current()).to.include({ next_step: 'submit', parked_reason: null });
      expect(await store.discrepanciesOf(payment.id)).to.deep.equal([]);
    });
  }

  it('still hears and asks about what was sent', async () => {
    await note();
    const payout = await somePayout();
    const before = store.workOn(payout);
    await before.answer(await before.claim(), ACKNOWLEDGED);
    const { database, drop } = await restored();
    const work = workOn(database, payout);
    expect(await work.current()).to.include({ next_step: 'poll' });
    expect(await work.hear(succeeded())).to.include({ status: 'completed' });
    await drop();
  });

  for (const [what, pattern] of [
    ['system of another server', /system \d+/],
    ['timeline after a failover', /timeline \w+/],
    ['database of a restored dump', /database \d+/],
  ] as const) {
    it(`is known by the ${what}`, async () => {
      await note();
      const before = (await seenOn())!.replace(pattern, (text) => text.replace(/\w+$/, '7'));
      await store.rows('UPDATE installation SET seen_on = :before', { before });
      expect(await other()).to.include({ before });
      expect(await store.workOn(await somePayout()).claim()).to.equal(null);
    });
  }

  const ENDINGS: Record<string, (trx: Transaction) => Promise<unknown>> = {
    marked: noteMarked,
    resumed: (trx) => resumeHere(trx, true),
  };
  for (const [how, goOn] of Object.entries(ENDINGS)) {
    it(`gives no number to an event before it is ${how}, because it may have given that number before`, async () => {
      const { database } = store;
      const merchant = await store.newMerchant();
      const id = await newEvent(database, merchant);
      await pretendMoved();
      const sequence = async () => {
        await prepareDeliveries(database, 0);
        const sql = 'SELECT sequence FROM events WHERE id = :id';
        return (await firstRow<{ sequence: number | null }>(database, sql, { id }))!.sequence;
      };
      expect(await sequence()).to.equal(null);
      await inTransaction(database, goOn);
      expect(await sequence()).to.equal(1);
    });
  }

  it('is not noticed by a role that may not look, and the log says so', async () => {
    const functions = 'pg_control_system, pg_current_wal_lsn';
    const hide = () =>
      asSuperuser(store.name, [`REVOKE EXECUTE ON FUNCTION ${functions} FROM PUBLIC`]);
    await hide();
    for (const start of [1, 2]) {
      expect(await note(), `start ${start}`).to.match(/^PostgreSQL does not tell/);
      expect(await other()).to.equal(null);
    }
    expect(await seenOn()).to.match(/^system unknown, timeline unknown, database \d+$/);
    await asSuperuser(store.name, [`GRANT EXECUTE ON FUNCTION ${functions} TO PUBLIC`]);
    expect(await note()).to.equal(null);
    expect(await seenOn()).to.match(/^system \d+, timeline [0-9A-F]{8}, database \d+$/);
    await hide();
    expect(await other()).to.equal(null);
  });

  const somePayout = async () => newPayout(store.database, await store.newMerchant());

  const pretendMoved = () =>
    store.rows(`UPDATE installation SET seen_on = 'system 1, timeline 1, database 1'`);
});
