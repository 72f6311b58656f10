import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { pauseChannel } from '../../src/domain/channels/channel-store.ts';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import { createPayout, type NewPayout } from '../../src/domain/payouts/create-payout.ts';
import {
  AMOUNT_CENTS,
  PAYER,
  PAYOUT_FEE_CENTS,
  payoutRequest,
  rejection,
  useStore,
} from '../support/world.ts';

const COST_CENTS = AMOUNT_CENTS + PAYOUT_FEE_CENTS;
const TOP_UP_CENTS = 50_000;

describe('Accepting a payout', () => {
  const store = useStore();

  beforeEach(async () => {
    await topUp(TOP_UP_CENTS);
  });

  afterEach(() => store.expectRightBooks());

  const topUp = (cents: number, reference = 'bank-1') => store.topUp(cents, reference);

  const accept = (overrides: Partial<NewPayout> = {}) =>
    createPayout(store.database, payoutRequest(store.merchant, overrides));

  const wallet = () => store.walletBalance('payout');

  const inFlight = () => store.accountBalance('payouts_in_flight');

  /** The lines of the payout wallet and of what is in flight, as the payouts left them. */
  const entries = () =>
    store.rows(
      `SELECT e.line, e.account, e.amount_cents, e.entry_no, e.balance_after_cents, e.type,
         e.ref_no, e.counterparty, e.description
       FROM entries e JOIN journals j ON j.merchant_id = e.merchant_id AND j.id = e.journal_id
       WHERE e.merchant_id = :id AND j.source_kind = 'payout' ORDER BY j.created_at, e.line`,
      { id: store.merchantId },
    );

  /** How many rows of this merchant there are wherever a payout leaves one. */
  async function traces(): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    const tables = ['payouts', 'journals', 'entries', 'payment_history', 'outbox', 'events'];
    for (const table of tables) {
      counts[table] = await store.countOf(`${table} WHERE merchant_id = :id`, {
        id: store.merchantId,
      });
    }
    return counts;
  }

  async function expectRefused(code: string, overrides: Partial<NewPayout> = {}): Promise<void> {
    const before = { ...(await traces()), wallet: await wallet() };
    expect(await rejection(accept(overrides))).to.include({ name: 'Refusal', code });
    expect({ ...(await traces()), wallet: await wallet() }).to.deep.equal(before);
  }

  it('debits amount and fee at once, as two lines that follow each other', async () => {
    const { ref_no } = await accept();
    expect(await wallet()).to.equal(TOP_UP_CENTS - COST_CENTS);
    expect(await inFlight()).to.equal(COST_CENTS);
    const internal = { entry_no: null, balance_after_cents: null, type: null, ref_no: null };
    const own = { account: 'wallet:payout', ref_no, counterparty: PAYER };
    expect(await entries()).to.deep.equal([
      {
        line: 1,
        account: 'payouts_in_flight',
        amount_cents: COST_CENTS,
        ...internal,
        counterparty: null,
        description: null,
      },
      {
        ...own,
        line: 2,
        amount_cents: -AMOUNT_CENTS,
        entry_no: 2,
        balance_after_cents: TOP_UP_CENTS - AMOUNT_CENTS,
        type: 'payout',
        description: 'Disbursement',
      },
      {
        ...own,
        line: 3,
        amount_cents: -PAYOUT_FEE_CENTS,
        entry_no: 3,
        balance_after_cents: TOP_UP_CENTS - COST_CENTS,
        type: 'fee',
        description: 'Payout fee',
      },
    ]);
  });

  it('has no line for a fee that is nothing', async () => {
    const payout = await accept({ rate: { bps: 0, fixedCents: 0 } });
    expect(payout.fee_cents).to.equal(0);
    expect(await wallet()).to.equal(TOP_UP_CENTS - AMOUNT_CENTS);
    expect((await entries()).map((entry) => (entry as { type: string }).type)).to.deep.equal([
      null,
      'payout',
    ]);
  });

  it('leaves the payout open, with its history and its job, and tells nobody yet', async () => {
    const payout = await accept();
    expect(payout).to.include({
      kind: 'payout',
      status: 'pending',
      next_step: 'submit',
      step_no: 1,
      amount_cents: AMOUNT_CENTS,
      fee_cents: PAYOUT_FEE_CENTS,
      refund_posted_at: null,
    });
    expect(payout.deadline_at.getTime() - payout.created_at.getTime()).to.equal(4 * 3_600_000);
    expect(await store.historyOf(refOf(payout))).to.deep.equal([
      { from_status: null, to_status: 'pending', cause: 'api' },
    ]);
    expect(await store.outboxOf(payout.id)).to.deep.equal([
      {
        queue: 'submission-simulator',
        kind: 'payout',
        step: 'submit',
        row_id: payout.id,
        step_no: 1,
      },
    ]);
    expect(await traces()).to.include({ events: 0, payouts: 1 });
  });

  it('takes the last cent of a wallet, and no cent more', async () => {
    const amountCents = TOP_UP_CENTS - PAYOUT_FEE_CENTS;
    await expectRefused('insufficient_balance', { amount_cents: amountCents + 1 });
    await accept({ amount_cents: amountCents });
    expect(await wallet()).to.equal(0);
    await expectRefused('insufficient_balance', { amount_cents: 100 });
  });

  it('names the wallet that does not cover it', async () => {
    const { name, message } = await rejection(accept({ amount_cents: TOP_UP_CENTS }));
    expect([name, message]).to.deep.equal(['Refusal', 'insufficient_balance: payout']);
  });

  it('refuses a reference that is taken, of the same merchant only', async () => {
    await accept({ ref_no: 'salary-1' });
    await expectRefused('duplicate_ref_no', { ref_no: 'salary-1' });
    store.merchant = await store.newMerchant();
    await topUp(COST_CENTS);
    await accept({ ref_no: 'salary-1' });
  });

  it('records nothing for a merchant without a payout wallet', async () => {
    store.merchant = await store.newMerchant();
    await rows(store.owner, `DELETE FROM wallets WHERE merchant_id = :id AND kind = 'payout'`, {
      id: store.merchantId,
    });
    await expectRefused('wallet_missing');
  });

  it('records nothing on a channel that is paused, and goes on with the others', async () => {
    await store.transaction((trx) => pauseChannel(trx, 63907));
    await expectRefused('channel_paused', { channel: 63907 });
    await accept({ channel: 63902 });
  });

  it('records nothing in a transaction that fails afterwards', async () => {
    const before = await traces();
    const failing = store.transaction(async (trx) => {
      await createPayout(trx, payoutRequest(store.merchant));
      throw new Error('and then it failed');
    });
    await rejection(failing);
    expect(await traces()).to.deep.equal(before);
    expect(await wallet()).to.equal(TOP_UP_CENTS);
  });

  it('takes the same reference once of many that come at once', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, () => accept({ ref_no: 'same' })),
    );
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused).to.have.length(19);
    for (const { reason } of refused) expect(reason).to.include({ code: 'duplicate_ref_no' });
    expect(await wallet()).to.equal(TOP_UP_CENTS - COST_CENTS);
  });

  it('lets exactly fifty of a hundred pass at once when fifty are covered, without a deadlock', async () => {
    store.merchant = await store.newMerchant();
    await topUp(50 * COST_CENTS);
    const outcomes = await Promise.allSettled(Array.from({ length: 100 }, () => accept()));
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused).to.have.length(50);
    // A deadlock would be among the reasons: nothing repeats a statement outside a transaction.
    for (const { reason } of refused) expect(reason).to.include({ code: 'insufficient_balance' });
    expect(await wallet()).to.equal(0);
    expect(await inFlight()).to.equal(50 * COST_CENTS);
    expect(await traces()).to.include({ payouts: 50, outbox: 50, payment_history: 50 });
  });
});
