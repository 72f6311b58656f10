import { expect } from 'chai';
import { v5 as uuidv5 } from 'uuid';
import { type Database, rows, type Transaction } from '../../src/connections/database.ts';
import type { ParsedCallback } from '../../src/domain/gateway-results.ts';
import type { Return } from '../../src/domain/payments/kinds.ts';
import { lockPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import type { StatementLine } from '../../src/domain/reconciliation/statement.ts';
import { findStoredCallback } from '../../src/domain/settlement/callback-store.ts';
import { processCallback } from '../../src/domain/settlement/process-callback.ts';
import { settle } from '../../src/domain/settlement/settle.ts';
import { keepCallback } from '../support/callbacks.ts';
import { lineOf, newReceipt, runStatement } from '../support/statements.ts';
import {
  failed,
  newPayout,
  parserOf,
  payoutRequest,
  succeeded,
  useStore,
} from '../support/world.ts';

/** Of the lines of a statement. */
const DAY = { from: '2026-11-20', to: '2026-11-20' };

describe('Payments that a restored database does not have', () => {
  const store = useStore({ merchant: 'all' });

  it('are listed once, with their merchant, when a statement and a callback tell of them', async () => {
    for (const isCallbackFirst of [true, false]) {
      const line = await lostLine();
      if (isCallbackFirst) await hear(line, toldOf(line));
      expect((await reconcileDay(line)).lines).to.include({ unknown: 1 });
      if (!isCallbackFirst) await hear(line, toldOf(line));
      await reconcileDay(line);
      expect(await listed(line)).to.deep.equal(['unknown_payment']);
      await hear(line, toldOf(line));
      expect(await listed(line)).to.deep.equal(['unknown_payment']);
    }
  });

  it('are listed when their success comes without receipt after other news', async () => {
    for (const before of [{ outcome: 'pending' } as const, failed()]) {
      const line = await lostLine();
      await hear(line, before);
      expect(await listed(line)).to.deep.equal([]);
      await hear(line, succeeded({ transId: null }));
      expect(await listed(line)).to.deep.equal(['unknown_payment']);
      await hear(line, before);
      expect(await listed(line)).to.deep.equal(['unknown_payment']);
    }
  });

  it('stay listed by their statement when a callback calls them failed, which is a question too', async () => {
    const line = await lostLine();
    await reconcileDay(line);
    await hear(line, failed());
    expect(await listed(line)).to.have.members(['unknown_movement', 'unknown_payment']);
  });

  it('are listed again for a movement of another amount or receipt', async () => {
    for (const other of [{ amountCents: 500 }, { transId: newReceipt() }]) {
      const line = await lostLine();
      await hear(line, toldOf(line));
      await reconcileDay(line);
      await reconcileDay({ ...line, ...other });
      expect(await listed(line)).to.have.members(['unknown_payment', 'unknown_movement']);
    }
  });

  it('a return whose line is read before its collection leaves nothing open when it is booked', async () => {
    const collection = await store.newCollection();
    const late = succeeded({ transId: newReceipt() });
    await store.learn(collection, failed());
    const [reference] = await store.database
      .transaction(async (trx) => {
        await settle(trx, (await lockPayment(trx, refOf(collection)))!, late, {
          cause: 'poll',
          parserOf,
        });
        throw new LostWorld(await referencesOfReturns(trx, collection.id));
      })
      .catch((error: LostWorld) => error.references);
    const collected = lineOf(collection, { transId: late.transId, completedAt: new Date() });
    const returned = lineOf(collection, { kind: 'reversal', reference: reference! });
    await runStatement(store.database, [returned, collected], DAY);
    expect(await listed(returned)).to.deep.equal(['unknown_movement']);
    expect(await referencesOfReturns(store.database, collection.id)).to.deep.equal([reference]);
    const [planned] = await store.rows<Return>(
      "SELECT *, 'return' AS kind FROM returns WHERE collection_id = :id",
      collection,
    );
    await store.learn(planned!, succeeded({ transId: returned.transId }), 'poll');
    expect(await listed(returned)).to.deep.equal([]);
  });

  it('are listed no more when they come again and their money is booked', async () => {
    for (const isListedBy of ['statement', 'callback', 'both']) {
      const { line, comeAgain } = await lostPayout();
      if (isListedBy !== 'callback') await reconcileDay(line);
      if (isListedBy !== 'statement') await hear(line, toldOf(line));
      expect(await listed(line), isListedBy).to.have.length(1);
      await store.learn(await comeAgain(), toldOf(line), 'poll');
      expect(await listed(line), isListedBy).to.deep.equal([]);
      await hear(line, toldOf(line));
      expect(await listed(line), isListedBy).to.deep.equal([]);
      await hear(line, { ...toldOf(line), amountCents: 999 });
      expect(await listed(line), isListedBy).to.deep.equal(['unknown_payment']);
    }
  });

  it('are listed no more when they come again and only their receipt was known', async () => {
    const { line, comeAgain } = await lostPayout();
    const other = { ...line, transId: newReceipt() };
    for (const each of [line, other]) await reconcileDay({ ...each, reference: null });
    await store.learn(await comeAgain(), toldOf(line), 'poll');
    expect(await listedByReceipt(line)).to.deep.equal([]);
    expect(await listedByReceipt(other)).to.deep.equal(['payout']);
  });

  for (const [what, facts] of [
    ['another amount', { amountCents: 500 }],
    ['money that went the other way', { kind: 'collection' }],
  ] as const) {
    it(`stay listed when their receipt comes again with ${what}`, async () => {
      for (const isFoundToo of [false, true]) {
        const { line, comeAgain } = await lostPayout();
        if (isFoundToo) await reconcileDay({ ...line, reference: null });
        await reconcileDay({ ...line, ...facts, reference: null });
        await store.learn(await comeAgain(), toldOf(line), 'poll');
        expect(await listedByReceipt(line)).to.have.length(1);
      }
    });
  }

  /** A payout of a world that is lost, as the gateway lists it. */
  async function lostPayout() {
    const request = payoutRequest(store.merchant);
    const accept = (database: Database) => newPayout(database, store.merchant, request);
    const trx = await store.database.transaction();
    const line = lineOf(await accept(trx));
    await trx.rollback();
    return { line, comeAgain: () => accept(store.database) };
  }

  const lostLine = async () =>
    lineOf(await store.newPayment('payout'), {
      reference: crypto.randomUUID(),
    });

  const reconcileDay = (line: StatementLine) => runStatement(store.database, [line], DAY);

  const toldOf = ({ transId }: StatementLine) => succeeded({ transId });

  async function hear({ reference }: StatementLine, verdict: ParsedCallback['verdict']) {
    const { database } = store;
    const ref = {
      kind: 'payout',
      merchant_id: store.merchantId,
      id: uuidv5('payment', reference!),
    } as const;
    const callbackId = await keepCallback(database, 'simulator', ref, '{}');
    const callback = await findStoredCallback(database, store.merchantId, callbackId);
    const result = await processCallback(database, callback!, () => () => ({ reference, verdict }));
    expect(result).to.equal('rejected');
  }

  /** The open findings about what has our reference; those of a callback name the merchant. */
  async function listed({ reference }: StatementLine): Promise<string[]> {
    const found = await store.rows<{ kind: string }>(
      `SELECT kind FROM discrepancies
       WHERE resolved_at IS NULL AND details->>'reference' = :reference
         AND merchant_id IS NOT DISTINCT FROM
           CASE kind WHEN 'unknown_payment' THEN CAST(:merchant_id AS bigint) END`,
      { reference, merchant_id: store.merchantId },
    );
    return found.map(({ kind }) => kind);
  }

  /** The kinds of the lines under a receipt that are open findings. */
  async function listedByReceipt({ transId }: StatementLine): Promise<string[]> {
    const found = await store.rows<{ kind: string }>(
      `SELECT details->>'kind' AS kind FROM discrepancies
       WHERE resolved_at IS NULL AND kind = 'unknown_movement' AND trans_id = :transId`,
      { transId },
    );
    return found.map(({ kind }) => kind);
  }
});

/** Rolls back what was done in the world that is lost. */
class LostWorld extends Error {
  references: string[];

  constructor(references: string[]) {
    super('lost');
    this.references = references;
  }
}

async function referencesOfReturns(database: Database | Transaction, collectionId: string) {
  const found = await rows<{ reference: string }>(
    database,
    'SELECT reference FROM returns WHERE collection_id = :collectionId',
    { collectionId },
  );
  return found.map(({ reference }) => reference);
}
