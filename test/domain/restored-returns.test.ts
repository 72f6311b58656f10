import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { recordAudit } from '../../src/domain/audit/audit.ts';
import type { Return } from '../../src/domain/payments/kinds.ts';
import { type AnyPayment, lockPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { settle } from '../../src/domain/settlement/settle.ts';
import { resolveDiscrepancy } from '../../src/domain/support/resolve-discrepancy.ts';
import { restoreProgress } from '../../src/domain/upkeep/restore-progress.ts';
import { sendDueQuestions } from '../../src/jobs/dispatch-outbox.ts';
import {
  ACKNOWLEDGED,
  failed,
  NOT_FOUND,
  parserOf,
  RESOLVING,
  SAFE,
  succeeded,
  useStore,
} from '../support/world.ts';

/** Support gives money back. */
const RETURNED = { as: 'returned', actor: 'support', reason: 'Late', transId: null } as const;

describe('Returns in a restored database', () => {
  const store = useStore();

  const MARK = {
    actor: 'operator',
    action: 'restore.mark',
    reason: 'Restore',
    merchant_id: null,
    subject: 'open returns',
    details: {},
  };

  const progress = async () =>
    (await restoreProgress(store.database)).payments.find(({ kind }) => kind === 'return');

  const returnsOf = ({ id }: AnyPayment) =>
    store.rows<Return>(
      `SELECT *, 'return' AS kind FROM returns WHERE collection_id = :id ORDER BY created_at`,
      { id },
    );

  it('returns are planned under the references that they had in the lost world, whoever tells', async () => {
    const collection = await store.newCollection();
    const planReturns = async (receipts: (string | null)[]) => {
      const trx = await store.database.transaction();
      const known = () => lockPayment(trx, refOf(collection));
      await settle(trx, (await known())!, failed(), { cause: 'poll', parserOf });
      for (const transId of receipts) {
        await settle(trx, (await known())!, succeeded({ transId }), { cause: 'poll', parserOf });
      }
      const waiting = await rows<{ id: string }>(
        trx,
        `SELECT id FROM discrepancies WHERE payment_id = :id AND resolved_at IS NULL`,
        { id: collection.id },
      );
      for (const { id } of waiting) await resolveDiscrepancy(trx, id, RETURNED, RESOLVING);
      const planned = await rows<{ reference: string }>(
        trx,
        'SELECT reference FROM returns WHERE collection_id = :id ORDER BY id',
        { id: collection.id },
      );
      // As if the database was put back to before all of this.
      await trx.rollback();
      return planned.map(({ reference }) => reference);
    };
    const first = await planReturns(['LATE-1', 'LATE-2']);
    expect(new Set(first).size).to.equal(2);
    // A status query of some gateways gives no receipt.
    expect(await planReturns([null])).to.deep.equal(first.slice(0, 1));
    expect(await planReturns(['LATE-2', 'LATE-1'])).to.deep.equal(first);
  });

  it('a return that is planned after the last mark is asked about first, also by a decision', async () => {
    const [late, decided] = [await store.newCollection(), await store.newCollection()];
    await store.learn(late, failed());
    await store.learn(decided, succeeded({ transId: 'T1', amountCents: 777 }));
    await store.transaction((trx) => recordAudit(trx, MARK));
    await store.learn(late, succeeded({ transId: 'LATE-3', completedAt: new Date() }), 'statement');
    const [waiting] = await store.rows<{ id: string }>(
      'SELECT id FROM discrepancies WHERE payment_id = :id',
      { id: decided.id },
    );
    await store.transaction((trx) => resolveDiscrepancy(trx, waiting!.id, RETURNED, RESOLVING));
    expect(await progress()).to.include({ open: 2, unasked: 2 });
    for (const collection of [late, decided]) {
      const [planned] = await returnsOf(collection);
      const work = store.workOn(planned!);
      expect(await work.current()).to.include({ status: 'pending', next_step: 'poll' });
      expect(await work.results()).to.deep.equal(['unknown']);
      await sendDueQuestions(store.database);
      const [job] = await store.outboxOf(planned!.id);
      expect(job).to.include({ queue: 'polling-simulator', step: 'poll' });
      for (let count = 1; count <= 3; count += 1) await work.hear(NOT_FOUND, SAFE);
      const claim = await work.claim();
      expect(claim?.payment.id).to.equal(planned!.id);
      await work.answer(claim, ACKNOWLEDGED);
    }
    expect(await progress()).to.include({ open: 2, unasked: 0, unanswered: 0, unsent: 0 });
  });

  it('a return to be sent that the mark has missed counts as not asked about', async () => {
    const before = await progress();
    const missed = await store.newReturn();
    expect(await progress()).to.deep.equal({ ...before!, open: before!.open + 1, unsent: 1 });
    await store.transaction((trx) => recordAudit(trx, MARK));
    expect(await progress()).to.deep.equal({ ...before!, open: before!.open + 1, unasked: 1 });
    await store.learn(missed, succeeded());
  });

  it('a return of what was paid after the mark goes out at once', async () => {
    await store.transaction((trx) => recordAudit(trx, MARK));
    const work = store.workOn(await store.newReturn());
    expect((await work.claim())?.attemptNo).to.equal(1);
  });
});
