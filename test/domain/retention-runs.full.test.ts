import { expect } from 'chai';
import { type Database, firstRow, rows } from '../../src/connections/database.ts';
import { countRetention, runRetention } from '../../src/domain/upkeep/run-retention.ts';
import { plansOf } from '../support/plans.ts';
import { insertOldCallbacks, refuseToDelete } from '../support/retention.ts';
import { countOf, useStore } from '../support/world.ts';

const BY = { actor: 'tester', reason: 'because' };

describe('A run of retention', () => {
  const store = useStore({ fresh: true });

  it('deletes in batches, and two runs at once delete what one would', async () => {
    await insertOldCallbacks(store.database, 2_500);
    const runs = await Promise.all([
      runRetention(store.database, BY),
      runRetention(store.database, BY),
    ]);
    const deleted = runs.flat().reduce((sum, each) => sum + each.rows, 0);
    expect(deleted).to.equal(2_500);
    expect(await store.countOf('callbacks')).to.equal(0);
  });

  it('goes on with the other tables after an error, and tells it with what was done', async () => {
    await insertOldCallbacks(store.database, 1_000);
    await store.rows(
      `INSERT INTO failed_jobs (queue, kind, step, merchant_id, row_id, step_no, error, failed_at)
       VALUES ('x', 'payout', 'poll', :merchant_id, gen_random_uuid(), 1, 'bug', now() - interval '1 year')`,
      { ...store.merchant },
    );
    await refuseToDelete(store.owner);
    const removed = await runRetention(store.database, BY);
    const told = removed.filter((each) => each.rows > 0 || each.error !== null);
    expect(told.map((each) => [each.table, each.rows, each.error])).to.deep.equal([
      ['callbacks', 1_000, 'protected (SQLSTATE P0001)'],
      ['failed_jobs', 1, null],
    ]);
    expect(await store.rows('SELECT subject, details FROM audit_log')).to.deep.equal([
      { subject: 'table callbacks', details: { rows: 1_000 } },
      { subject: 'table failed_jobs', details: { rows: 1 } },
    ]);
  });

  it('reads no young rows of tables that grow with the payments', async () => {
    await store.owner.raw(`
      INSERT INTO statement_imports (id, gateway, channel, period_from, period_to, source)
      VALUES (gen_random_uuid(), 'simulator', 63902, '2026-01-01', '2026-01-01', 'x');
      INSERT INTO statement_lines (import_id, line_no, kind, amount_cents, trans_id, completed_at)
      SELECT i.id, n, 'payout', 100, 'R' || n, now()
      FROM statement_imports i, generate_series(1, 5000) n;
      INSERT INTO attempts (merchant_id, payment_kind, payment_id, attempt_no, result)
      SELECT m.id, 'collection', gen_random_uuid(), 1, 'acknowledged'
      FROM merchants m, generate_series(1, 5000);
      INSERT INTO callbacks (id, gateway, merchant_id, payment_kind, payment_id, body, status)
      SELECT gen_random_uuid(), 'simulator', 1001, 'payout', gen_random_uuid(), '', 'rejected' FROM generate_series(1, 5000);
      ANALYZE`);
    const plans = (await plansOf(store.database, () => runRetention(store.database, BY))).join(
      '\n',
    );
    for (const [table, condition] of [
      ['statement_lines', 'import_id = ANY'],
      ['attempts', 'started_at <'],
      ['callbacks', 'received_at <'],
    ]) {
      expect(plans).to.match(
        new RegExp(`Index Scan using \\w+ on ${table} t .*\\n +Index Cond: \\(${condition}`),
      );
    }
  });

  it('stops where it is told to, with no line in the audit log for what is not done', async () => {
    await insertOldCallbacks(store.database, 2);
    const month = await addMonth(store.owner, 'payment_history', 14);
    await runRetention(store.database, BY, AbortSignal.abort());
    expect(await store.countOf('callbacks')).to.equal(2);
    const counted = await countRetention(store.database);
    expect(counted.find(({ table }) => table === 'payment_history')?.months).to.deep.equal([month]);
    expect(await store.countOf('audit_log')).to.equal(0);
  });

  const PARTITIONED = {
    payment_history: ['happened_at', 13],
    webhook_attempts: ['attempted_at', 3],
  } as const;
  for (const [table, [column, count]] of Object.entries(PARTITIONED)) {
    it(`detaches the months of ${table} that are over for ${count} months, and keeps them as tables`, async () => {
      const young = await addMonth(store.owner, table, count);
      const old = await addMonth(store.owner, table, count + 1);
      const oldest = await addMonth(store.owner, table, count + 20);
      const counted = await countRetention(store.database);
      expect(counted.find((each) => each.table === table)?.months).to.deep.equal([oldest, old]);
      const [first, second] = await Promise.all([
        runRetention(store.database, BY),
        runRetention(store.database, BY),
      ]);
      const months = [...first, ...second].flatMap((each) => each.months);
      expect(months).to.have.members([oldest, old]);
      const left = await store.rows<{ name: string }>(
        `SELECT CAST(CAST(inhrelid AS regclass) AS text) AS name FROM pg_inherits
         WHERE inhparent = CAST(:table AS regclass)`,
        { table },
      );
      expect(left.map(({ name }) => name))
        .to.include(young)
        .and.not.include(old);
      expect(await countOf(store.owner, old), column).to.equal(0);
    });
  }

  it('leaves a month that is in use for the next run, and says so', async () => {
    const month = await addMonth(store.owner, 'payment_history', 14);
    const report = await store.owner.transaction();
    await rows(report, `SELECT FROM ${month}`);
    const ofHistory = async () =>
      (await runRetention(store.database, BY)).find(({ table }) => table === 'payment_history');
    const nothing = { table: 'payment_history', rows: 0, months: [], busy: [], error: null };
    expect(await ofHistory()).to.deep.equal({ ...nothing, busy: [month] });
    await report.rollback();
    expect(await ofHistory()).to.deep.equal({ ...nothing, months: [month] });
  });
});

/** Adds the month that was so many months ago. @returns the name of its table. */
async function addMonth(database: Database, table: string, ago: number): Promise<string> {
  const row = await firstRow<{ month: string }>(
    database,
    `SELECT to_char(date_trunc('month', now() AT TIME ZONE 'UTC') - make_interval(months => :ago), 'YYYY_MM') AS month`,
    { ago },
  );
  const name = `${table}_${row!.month}`;
  const month = row!.month.replace('_', '-');
  await rows(
    database,
    `CREATE TABLE ${name} PARTITION OF ${table} FOR VALUES
       FROM ('${month}-01 00:00:00+00') TO ('${month}-28 00:00:00+00')`,
  );
  return name;
}
