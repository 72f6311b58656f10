import { expect } from 'chai';
import { openDiscrepancy } from '../../src/domain/discrepancies/discrepancy.ts';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import { refundPayout } from '../../src/domain/settlement/refund-payout.ts';
import { RETENTION, type Retention } from '../../src/domain/upkeep/retention-rules.ts';
import { countRetention, runRetention } from '../../src/domain/upkeep/run-retention.ts';
import { handbookSection } from '../support/handbook.ts';
import { failed, PAYMENT_KINDS, parserOf, succeeded, useStore } from '../support/world.ts';

const BY = { actor: 'tester', reason: 'because' };

describe('Retention', () => {
  const store = useStore({ fresh: true });

  afterEach(async () => {
    await store.expectAllRightBooks();
  });

  async function run(): Promise<Record<string, number>> {
    const removed = await runRetention(store.database, BY);
    return Object.fromEntries(
      removed.filter((each) => each.rows > 0).map((each) => [each.table, each.rows]),
    );
  }

  it('says of every table of the database what becomes of it', async () => {
    const tables = await store.rows<{
      name: string;
    }>(`SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition
         AND relnamespace = CAST('public' AS regnamespace)`);
    expect(Object.keys(RETENTION)).to.have.members(tables.map(({ name }) => name));
  });

  it('is in the handbook as it is in the code', () => {
    const rows = handbookSection('Retention').matchAll(/^\| (`.+`) \| (.+) \| (.+) \|$/gm);
    const documented = [...rows].flatMap(([, tables, kept, why]) =>
      [...tables!.matchAll(/`(\w+)`/g)].map(([, table]) => [table, kept, why]),
    );
    const stated = Object.entries(RETENTION).map(([table, retention]) => [
      table,
      wordsFor(retention),
      retention.why,
    ]);
    expect(documented).to.have.deep.members(stated);
  });

  /** A row of a table that is so old, and may go if its age is all that counts. */
  const INSERTS: Readonly<Record<string, string>> = {
    idempotency_keys: `INSERT INTO idempotency_keys
      (merchant_id, path, key, fingerprint, response_status, response_body, created_at)
      VALUES (:merchant_id, '/x', gen_random_uuid(), '', 200, '{}', now() - CAST(:age AS interval))`,
    token_families: `INSERT INTO token_families
      (id, merchant_id, app_code, current_jti, expires_at, ends_at)
      VALUES (gen_random_uuid(), :merchant_id, :app_code, gen_random_uuid(),
        now() - CAST(:age AS interval), now())`,
    callbacks: `INSERT INTO callbacks (id, gateway, merchant_id, payment_kind, payment_id, body, status, received_at)
      VALUES (gen_random_uuid(), 'simulator', :merchant_id, 'payout', gen_random_uuid(), '{}', 'processed',
        now() - CAST(:age AS interval))`,
    failed_jobs: `INSERT INTO failed_jobs (queue, kind, step, merchant_id, row_id, step_no, error, failed_at)
      VALUES ('x', 'payout', 'poll', :merchant_id, gen_random_uuid(), 1, 'bug', now() - CAST(:age AS interval))`,
    statement_imports: `INSERT INTO statement_imports (id, gateway, channel, period_from, period_to, source, imported_at)
      VALUES (gen_random_uuid(), 'simulator', 63902, '2026-01-01', '2026-01-01', 'x', now() - CAST(:age AS interval))`,
    stray_callbacks: `INSERT INTO stray_callbacks (id, gateway, body, problem, received_at)
      VALUES (gen_random_uuid(), 'simulator', '', 'wrong token', now() - CAST(:age AS interval))`,
    security_events: `INSERT INTO security_events (id, kind, at)
      VALUES (gen_random_uuid(), 'log_in', now() - CAST(:age AS interval))`,
  };

  const AGES: readonly [table: string, young: string, old: string][] = [
    ['idempotency_keys', '47 hours', '49 hours'],
    ['token_families', '7 days', '9 days'],
    ['callbacks', '89 days', '91 days'],
    ['stray_callbacks', '6 days', '8 days'],
    ['failed_jobs', '89 days', '91 days'],
    ['statement_imports', '24 months', '26 months'],
    ['security_events', '12 months', '14 months'],
  ];

  for (const [table, young, old] of AGES) {
    it(`deletes from ${table} what is ${old} old, and not what is ${young} old`, async () => {
      const before = await store.countOf(table);
      for (const age of [young, old])
        await store.rewrite(INSERTS[table]!, { ...store.merchant, age });
      const counted = await countRetention(store.database);
      expect(counted.find((each) => each.table === table)?.rows).to.equal(1);
      expect(await run()).to.deep.equal({ [table]: 1 });
      expect(await store.countOf(table)).to.equal(before + 1);
      expect(await run()).to.deep.equal({});
      const audits = await store.rows(
        'SELECT actor, action, reason, subject, details FROM audit_log',
      );
      expect(audits).to.deep.equal([
        { ...BY, action: 'retention.run', subject: `table ${table}`, details: { rows: 1 } },
      ]);
    });
  }

  it('deletes an old statement with its lines, and no young one', async () => {
    for (const [age, name] of [
      ['26 months', 'old'],
      ['1 day', 'young'],
    ]) {
      await store.rows(
        `WITH i AS (INSERT INTO statement_imports (id, gateway, channel, period_from, period_to, source, imported_at)
           VALUES (gen_random_uuid(), 'simulator', 63902, '2026-01-01', '2026-01-01', :name,
             now() - CAST(:age AS interval)) RETURNING id)
         INSERT INTO statement_lines (import_id, line_no, kind, amount_cents, trans_id, completed_at)
         SELECT id, n, 'payout', 100, 'R' || n, now() FROM i, generate_series(1, 3) n`,
        { age, name },
      );
    }
    expect(await run()).to.deep.equal({ statement_lines: 3, statement_imports: 1 });
    expect(await store.countOf('statement_lines')).to.equal(3);
  });

  for (const kind of PAYMENT_KINDS) {
    it(`keeps the attempts of a ${kind} as long as it may be needed`, async () => {
      const payment = await store.newPayment(kind);
      const work = store.workOn(payment);
      await work.claim();
      const left = async (age: string) => {
        await store.rewrite('UPDATE attempts SET started_at = now() - CAST(:age AS interval)', {
          age,
        });
        await run();
        return (await work.results()).length;
      };
      expect(await left('40 months'), 'of an open one').to.equal(1);
      await store.learn(payment, kind === 'return' ? succeeded({ transId: 'BACK1' }) : failed());
      if (kind === 'payout') {
        expect(await left('40 months'), 'of one that waits for its refund').to.equal(1);
        await refundPayout(store.database, refOf(payment), (await store.reread(payment)).step_no, {
          parserOf,
        });
      }
      await question(payment.id, 'open');
      expect(await left('40 months'), 'with an open discrepancy').to.equal(1);
      await question(payment.id, 'resolved');
      expect(await left('12 months'), 'young').to.equal(1);
      expect(await left('14 months'), 'old').to.equal(0);
      // What is over is over: it can be neither claimed nor asked about.
      expect(await work.claim()).to.equal(null);
    });
  }

  async function question(paymentId: string, state: 'open' | 'resolved'): Promise<void> {
    if (state === 'open') {
      const ref = { kind: 'payout', merchant_id: store.merchantId, id: paymentId } as const;
      await store.transaction((trx) =>
        openDiscrepancy(trx, {
          kind: 'failure_after_success',
          gateway: 'simulator',
          payment: ref,
          details: {},
        }),
      );
    } else {
      await store.rows(
        'UPDATE discrepancies SET resolved_at = now() WHERE payment_id = :paymentId',
        { paymentId },
      );
    }
  }

  it('keeps a callback that waits, or that an open discrepancy is about', async () => {
    const payment = await store.newPayment('payout');
    await store.rows(INSERTS.callbacks!, { ...store.merchant, age: '200 days' });
    await store.rewrite('UPDATE callbacks SET payment_id = :id', { id: payment.id });
    await question(payment.id, 'open');
    expect(await run()).to.deep.equal({});
    await question(payment.id, 'resolved');
    await store.rows(`UPDATE callbacks SET status = 'stored', parked_reason = 'job failed: bug'`);
    expect(await run()).to.deep.equal({});
    await store.rows(`UPDATE callbacks SET status = 'processed', parked_reason = NULL`);
    expect(await run()).to.deep.equal({ callbacks: 1 });
  });

  it('keeps a failed job whose row is still parked', async () => {
    const payment = await store.newPayment('payout');
    await store.rows(INSERTS.failed_jobs!, { ...store.merchant, age: '200 days' });
    await store.rewrite('UPDATE failed_jobs SET row_id = :id', { id: payment.id });
    const park = (reason: string | null) =>
      store.rows('UPDATE payouts SET parked_reason = :reason WHERE id = :id', {
        reason,
        id: payment.id,
      });
    await park('job failed: bug');
    expect(await run()).to.deep.equal({});
    await park(null);
    expect(await run()).to.deep.equal({ failed_jobs: 1 });
  });
});

function wordsFor(retention: Retention): string {
  if (retention.keep === 'forever') return 'for ever';
  if (retention.keep === 'state') return '–';
  return 'detach' in retention ? `${retention.keep}, then detached` : retention.keep;
}
