import { expect } from 'chai';
import { openOverdue } from '../../src/domain/discrepancies/overdue.ts';
import type { AnyPayment } from '../../src/domain/payments/payment-store.ts';
import { MARK_BATCH_SIZE, type Marker, markRestored } from '../../src/domain/upkeep/restore.ts';
import { sendDueQuestions } from '../../src/jobs/dispatch-outbox.ts';
import { passDeadline } from '../support/discrepancies/scene.ts';
import {
  ACKNOWLEDGED,
  failed,
  NEVER,
  NOT_FOUND,
  NOT_TAKEN,
  PAYMENT_KINDS,
  SAFE,
  succeeded,
  UNKNOWN,
  useStore,
} from '../support/world.ts';

describe('In a restored database that was marked', () => {
  const store = useStore();

  const mark = (kind: AnyPayment['kind'], after: Marker | null = null) =>
    store.transaction((trx) => markRestored(trx, kind, after));

  async function markAll(kind: AnyPayment['kind']): Promise<number> {
    let marked = 0;
    for (let after: Marker | null = null; ; ) {
      const batch = await mark(kind, after);
      marked += batch.marked;
      if (!batch.last) return marked;
      after = batch.last;
    }
  }

  const openFindings = async ({ id }: AnyPayment) => {
    const found = await store.rows<{ kind: string }>(
      'SELECT kind FROM discrepancies WHERE payment_id = :id AND resolved_at IS NULL',
      { id },
    );
    return found.map((each) => each.kind);
  };

  for (const kind of PAYMENT_KINDS) {
    describe(`a ${kind}`, () => {
      const accepted = async () => {
        const payment = await store.newPayment(kind);
        return { payment, work: store.workOn(payment) };
      };

      it('that was never sent is asked about, and not sent', async () => {
        const { payment, work } = await accepted();
        const { step_no } = payment;
        await markAll(kind);
        expect(await work.results()).to.deep.equal(['unknown']);
        expect(await work.current()).to.include({ status: 'pending', next_step: 'poll' });
        // The job that the backup had is stale, and another one could send nothing.
        expect(await work.claim(step_no)).to.equal(null);
        await sendDueQuestions(store.database);
        const job = (await store.outboxOf(payment.id)).at(-1);
        expect(job).to.include({ queue: 'polling-simulator', step: 'poll' });
        await store.rows(`UPDATE ${kind}s SET next_step = 'submit' WHERE id = :id`, {
          id: payment.id,
        });
        expect(await work.claim()).to.equal(null);
        expect(await work.current()).to.include({ next_step: 'poll' });
      });

      it('that no gateway had taken is not sent again before it was asked', async () => {
        const { work } = await accepted();
        await work.answer(await work.claim(), NOT_TAKEN);
        await markAll(kind);
        expect(await work.results()).to.deep.equal(['not_taken', 'unknown']);
        expect(await work.current()).to.include({ next_step: 'poll' });
      });

      it('that its gateway does not know goes under the same reference, if that is safe', async () => {
        const { payment, work } = await accepted();
        await markAll(kind);
        for (let count = 1; count <= 3; count += 1) await work.hear(NOT_FOUND, SAFE);
        expect(await work.results()).to.deep.equal(['ruled_out']);
        const claim = await work.claim();
        expect(claim?.payment.id).to.equal(payment.id);
      });

      it('that its gateway does not know is never sent, if that is not safe', async () => {
        const { work } = await accepted();
        await markAll(kind);
        for (let count = 1; count <= 4; count += 1) await work.hear(NOT_FOUND, NEVER);
        expect(await work.current()).to.include({ status: 'pending', next_step: 'poll' });
        expect(await work.results()).to.deep.equal(['unknown']);
      });

      it('is asked about anew, whatever the gateway had said about it before', async () => {
        const { work } = await accepted();
        await work.answer(await work.claim(), UNKNOWN);
        await work.setAttempts("answered_at = now() - interval '1 hour'");
        await work.hear(NOT_FOUND);
        await work.hear(NOT_FOUND);
        await markAll(kind);
        const settling = { ...SAFE, settlingWindowMs: 60_000 };
        for (let count = 1; count <= 4; count += 1) await work.hear(NOT_FOUND, settling);
        expect(await work.attempts()).to.deep.equal([
          { attempt_no: 1, result: 'unknown', not_found_count: 0 },
        ]);
      });

      it('that was under way, or acknowledged, is only asked about', async () => {
        const [sending, acknowledged] = [await accepted(), await accepted()];
        await sending.work.claim();
        await acknowledged.work.answer(await acknowledged.work.claim(), ACKNOWLEDGED);
        await markAll(kind);
        expect(await sending.work.results()).to.deep.equal(['unknown']);
        expect(await acknowledged.work.results()).to.deep.equal(['acknowledged']);
        for (const { work } of [sending, acknowledged]) {
          expect(await work.current()).to.include({ next_step: 'poll' });
        }
      });

      it('may be marked again, also after the gateway was asked', async () => {
        const { payment, work } = await accepted();
        await markAll(kind);
        await markAll(kind);
        expect(await work.results()).to.deep.equal(['unknown']);
        for (let count = 1; count <= 3; count += 1) await work.hear(NOT_FOUND);
        await markAll(kind);
        expect(await work.results()).to.deep.equal(['ruled_out', 'unknown']);
        expect(await work.claim(payment.step_no)).to.equal(null);
      });

      it('that is parked stays parked, and cannot be sent either', async () => {
        const { payment, work } = await accepted();
        const parked = 'job failed: no driver';
        await store.rows(
          `UPDATE ${kind}s SET next_step = NULL, next_step_at = NULL, parked_reason = :parked
           WHERE id = :id`,
          { parked, id: payment.id },
        );
        await markAll(kind);
        expect(await work.current()).to.include({ parked_reason: parked, next_step: null });
        expect(await work.results()).to.deep.equal(['unknown']);
      });
    });
  }

  it('a collection that was parked as never taken is asked about, and its finding waits for the answer', async () => {
    const scene = { database: store.database, merchant: store.merchant };
    const collection = await store.newCollection();
    const work = store.workOn(collection);
    await passDeadline(scene, collection);
    await openOverdue(store.database);
    for (let times = 1; times <= 2; times += 1) {
      await work.claim();
      expect(await work.current()).to.include({ next_step: null });
      expect(await openFindings(collection)).to.deep.equal(['never_taken']);
      await markAll('collection');
      expect(await work.current()).to.include({ next_step: 'poll', parked_reason: null });
      expect(await openFindings(collection)).to.deep.equal(['overdue']);
      for (let asked = 1; asked <= 3; asked += 1) await work.hear(NOT_FOUND);
      expect(await work.current()).to.include({ next_step: 'submit' });
    }
  });

  it('what has ended is left alone', async () => {
    const [done, refused] = [await store.newCollection(), await store.newCollection()];
    await store.learn(done, succeeded());
    await store.learn(refused, failed());
    const before = await Promise.all(
      [done, refused].map((payment) => store.workOn(payment).current()),
    );
    await markAll('collection');
    for (const payment of before) {
      const work = store.workOn(payment);
      expect(await work.current()).to.deep.equal(payment);
      expect(await work.attempts()).to.deep.equal([]);
    }
  });

  it('all are marked, however many batches that takes', async () => {
    await store.rows(
      `INSERT INTO collections (merchant_id, id, app_code, channel, gateway, payfrom, amount_cents,
         commission_cents, ref_no, reference, account_number, callback_url, deadline_at, next_step, next_step_at)
       SELECT :merchant_id, gen_random_uuid(), :app_code, 63902, 'simulator', '+254712345678', 100, 0,
         'batch-' || n, gen_random_uuid(), 'A', 'http://x.example', now() + interval '1 hour', 'submit', now()
       FROM generate_series(1, :count) n`,
      { ...store.merchant, count: MARK_BATCH_SIZE + 1 },
    );
    const marked = await markAll('collection');
    expect(marked).to.be.at.least(MARK_BATCH_SIZE + 1);
    const [left] = await store.rows<{
      count: number;
    }>(`SELECT count(*) FROM collections c WHERE ref_no LIKE 'batch-%' AND NOT EXISTS (
         SELECT FROM attempts a WHERE a.payment_id = c.id AND a.result = 'unknown')`);
    expect(left!.count).to.equal(0);
  });
});
