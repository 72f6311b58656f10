import { expect } from 'chai';
import type { Verdict } from '../../src/domain/gateway-results.ts';
import { postJournal } from '../../src/domain/ledger/post-journal.ts';
import type { Collection, Reversal } from '../../src/domain/payments/kinds.ts';
import { lockPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { createReversal } from '../../src/domain/reversals/create-reversal.ts';
import { settle } from '../../src/domain/settlement/settle.ts';
import { claimSubmission } from '../../src/domain/submission/claim-submission.ts';
import { FAILURE, SUCCESS } from '../support/settle-stories.ts';
import {
  AMOUNT_CENTS,
  COMMISSION_CENTS,
  eventually,
  NET_CENTS,
  newsOf,
  POLL_FIRST_MS,
  parserOf,
  receiptOf,
  rejection,
  reversalRequest,
  useStore,
} from '../support/world.ts';

describe('News of a reversal', () => {
  const store = useStore();
  let collection: Collection;
  let reversal: Reversal;

  beforeEach(async () => {
    collection = await store.newCompletedCollection();
    reversal = await another();
  });

  afterEach(() => store.expectRightBooks());

  const another = () => createReversal(store.database, reversalRequest(collection));

  const hear = (news: Verdict, of = reversal) => store.learn(of, news);

  const eventsOf = ({ id }: Reversal) =>
    store.rows<{ type: string; body: string }>(
      'SELECT type, body FROM events WHERE payment_id = :id',
      { id },
    );

  /** The merchant's books, in cents, after so many collections of which so many came back. */
  async function expectBooks(expected: { collected: number; returned: number; suspense?: number }) {
    const of = (account: string) => store.accountBalance(account);
    const kept = expected.collected - expected.returned;
    const suspense = expected.suspense ?? 0;
    const wallet = await store.walletBalance('collection');
    expect(wallet, 'wallet').to.equal(kept * NET_CENTS);
    expect(await of('commission'), 'commission').to.equal(kept * COMMISSION_CENTS);
    expect((await of('gateway_float')) + kept * AMOUNT_CENTS, 'float').to.equal(suspense);
    expect((await of('suspense')) + suspense, 'suspense').to.equal(0);
  }

  it('that is followed by a failure of its collection ends as the operator’s loss, if it is true', async () => {
    await hear(SUCCESS);
    await store.learn(collection, FAILURE);
    const ofCollection = await store.discrepancyOf('failure_after_success', collection);
    const refused = await rejection(store.resolve(ofCollection, 'undo'));
    expect(refused.message).to.include('undo that one first');
    await store.resolve(await store.discrepancyOf('failure_after_success', reversal), 'undo');
    await store.resolve(ofCollection, 'undo');
    // The customer has kept what the reversal paid, and the collection's money has gone back.
    await store.resolve(await store.discrepancyOf('undone_money', reversal), 'failed');
    await store.resolve(await store.discrepancyOf('undone_money', collection), 'undo');
    expect(await store.walletBalance('collection')).to.equal(0);
    expect(await store.accountBalance('suspense')).to.equal(0);
    expect(await store.accountBalance('losses')).to.equal(-AMOUNT_CENTS);
    expect(await store.accountBalance('gateway_float')).to.equal(AMOUNT_CENTS);
    for (const payment of [collection, reversal]) {
      expect(await store.reread(payment)).to.include({ status: 'failed' });
    }
  });

  it('that is still open is a question too when its collection is said to have failed', async () => {
    await store.learn(collection, FAILURE);
    expect(await store.discrepanciesOf(reversal.id)).to.deep.equal(['failure_after_success']);
    await hear(FAILURE);
    const ofCollection = await store.discrepancyOf('failure_after_success', collection);
    expect(await store.resolve(ofCollection, 'undo')).to.include({ resolution: 'undo' });
    await store.resolve(await store.discrepancyOf('undone_money', collection), 'undo');
  });

  it('of success is told in these words, and stands in the wallet once', async () => {
    await hear(SUCCESS);
    const [event] = await eventsOf(reversal);
    expect(JSON.parse(event!.body)).to.deep.equal({
      notification: { type: 'reversal', event: 'transaction.completed' },
      data: {
        id: reversal.id,
        result_code: 0,
        result_description: 'Done',
        amount: '100.00',
        ref_no: reversal.ref_no,
        checkout_ref_no: collection.ref_no,
        beneficiary: { account: '+254712345678', kyc: null },
        transaction_date: '2026-11-20T10:00:00.000Z',
        external_ref: 'GW-1',
        trans_id: receiptOf(reversal),
        transaction_fee: '0.00',
      },
    });
    const lines = await store.rows(
      `SELECT amount_cents, ref_no, counterparty, description FROM entries
       WHERE merchant_id = :id AND type = 'reversal'`,
      { id: store.merchantId },
    );
    const { ref_no, account, reason } = reversal;
    expect(lines).to.deep.equal([
      { amount_cents: -NET_CENTS, ref_no, counterparty: account, description: reason },
    ]);
  });

  it('of failure is told with the code 1, whatever the network’s own code is', async () => {
    await hear(FAILURE);
    const [event] = await eventsOf(reversal);
    const { notification, data } = JSON.parse(event!.body);
    expect(notification).to.deep.equal({ type: 'reversal', event: 'transaction.failed' });
    expect(data).to.include({
      result_code: 1,
      result_description: 'Cancelled',
      ref_no: reversal.ref_no,
      checkout_ref_no: collection.ref_no,
      trans_id: '',
      transaction_fee: '0.00',
    });
    expect(await store.reread(reversal)).to.include({ result_code: 1032 });
  });

  it('of success takes the net from a wallet that is empty by now, which later collections settle', async () => {
    await store.transaction((trx) =>
      postJournal(trx, {
        merchant_id: store.merchantId,
        source_kind: 'adjustment',
        source_id: collection.id,
        kind: 'adjustment',
        lines: [
          { account: 'bank', amount_cents: NET_CENTS },
          { account: 'wallet:collection', amount_cents: -NET_CENTS },
        ],
      }),
    );
    await hear(SUCCESS);
    const wallet = () => store.walletBalance('collection');
    expect(await wallet()).to.equal(-NET_CENTS);
    await store.newCompletedCollection();
    expect(await wallet()).to.equal(0);
  });

  for (const [what, news] of [
    ['open', null],
    ['done', SUCCESS],
  ] as const) {
    it(`of a late success goes to suspense when another one is ${what}`, async () => {
      await hear(FAILURE);
      const successor = await another();
      if (news) await hear(news, successor);
      expect(await hear(SUCCESS)).to.equal('discrepancy');
      expect(await hear(SUCCESS)).to.equal('repeat');
      expect(await store.discrepanciesOf(reversal.id)).to.deep.equal(['second_reversal']);
      expect(await store.reread(reversal)).to.include({ status: 'failed' });
      const books = { collected: 1, suspense: AMOUNT_CENTS };
      await expectBooks({ ...books, returned: news ? 1 : 0 });
      if (!news) await hear(SUCCESS, successor);
      await expectBooks({ ...books, returned: 1 });
      expect(await store.discrepanciesOf(successor.id)).to.deep.equal([]);
    });
  }

  it('of a late success holds another one that was not sent, and takes its place', async () => {
    await hear(FAILURE);
    const successor = await another();
    await hear(SUCCESS);
    const options = { pollFirstMs: POLL_FIRST_MS, gateways: ['simulator'] };
    const claim = () =>
      claimSubmission(store.database, refOf(successor), successor.step_no, options);
    expect(await claim()).to.equal(null);
    await store.resolve(await store.discrepancyOf('second_reversal', reversal), 'completed');
    expect(await store.reread(reversal)).to.include({ status: 'completed' });
    expect(await store.reread(successor)).to.include({
      ...{ status: 'failed', result_description: 'An earlier reversal has given the money back' },
    });
    expect(await eventsOf(successor)).to.have.length(1);
    await expectBooks({ collected: 1, returned: 1 });
  });

  it('of a late success keeps support from giving the money of its collection back once more', async () => {
    await hear(FAILURE);
    await store.learn(collection, FAILURE);
    await store.resolve(await store.discrepancyOf('failure_after_success', collection), 'undo');
    await hear(SUCCESS);
    const undone = await store.discrepancyOf('undone_money', collection);
    const refused = await rejection(store.resolve(undone, 'returned'));
    expect(refused.message).to.include('A reversal of the collection has moved money');
    expect(await store.returnsOf()).to.deep.equal([]);
  });

  it('of a late success counts when the others have failed, too, and ends the retries', async () => {
    await hear(FAILURE);
    const successor = await another();
    await hear(FAILURE, successor);
    expect(await hear(SUCCESS)).to.equal('completed');
    expect(await hear(SUCCESS, successor)).to.equal('discrepancy');
    expect(await store.discrepanciesOf(successor.id)).to.deep.equal(['second_reversal']);
    await expectBooks({ collected: 1, returned: 1, suspense: AMOUNT_CENTS });
  });

  it('of a late success, while it is applied, makes a new one wait for its end', async () => {
    await hear(FAILURE);
    const [trying] = await store.transaction(async (trx) => {
      const locked = await lockPayment(trx, refOf(reversal));
      const waiting = rejection(another());
      await eventually(
        'a new one that waits',
        () =>
          store.firstRow(`SELECT 1 FROM pg_stat_activity
             WHERE datname = current_database() AND wait_event_type = 'Lock'`),
        5_000,
      );
      expect(
        await settle(trx, locked!, newsOf(reversal, SUCCESS), { cause: 'callback', parserOf }),
      ).to.equal('completed');
      return [waiting];
    });
    expect(await trying).to.include({ name: 'Refusal', code: 'reversal_done' });
    await expectBooks({ collected: 1, returned: 1 });
  });

  it('and new reversals of the same collections meet without harm or deadlock, every time', async () => {
    const ROUNDS = 20;
    const rounds = Array.from({ length: ROUNDS }, async () => {
      const original = await store.newCompletedCollection();
      const request = () => createReversal(store.database, reversalRequest(original));
      const first = await request();
      await hear(FAILURE, first);
      // The success that takes it all back, against merchants who already try again.
      const outcomes = await Promise.allSettled([request(), hear(SUCCESS, first), request()]);
      return outcomes.map((outcome) =>
        outcome.status === 'rejected' ? outcome.reason.code : outcome.value,
      );
    });
    const outcomes = await Promise.all(rounds);
    const late = outcomes.map(([, settlement]) => settlement);
    const reversed = late.filter((settlement) => settlement === 'completed').length;
    expect(late.filter((settlement) => settlement === 'discrepancy')).to.have.length(
      ROUNDS - reversed,
    );
    for (const [one, settlement, two] of outcomes) {
      const refusals = [one, two].filter((each) => typeof each === 'string');
      expect(refusals).to.have.length(settlement === 'completed' ? 2 : 1);
      expect(['reversal_done', 'reversal_in_progress']).to.include.members(refusals);
    }
    const twice = `(SELECT FROM reversals WHERE merchant_id = :id AND status <> 'failed'
      GROUP BY collection_id HAVING count(*) > 1) t`;
    expect(await store.countOf(twice, { id: store.merchantId })).to.equal(0);
    await expectBooks({
      collected: ROUNDS + 1,
      returned: reversed,
      suspense: (ROUNDS - reversed) * AMOUNT_CENTS,
    });
  });
});
