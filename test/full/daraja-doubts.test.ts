import { expect } from 'chai';
import { firstRow } from '../../src/connections/database.ts';
import { channelPauses } from '../../src/domain/channels/channel-store.ts';
import { compareReceipt } from '../../src/domain/support/compare-receipt.ts';
import { callbackUrlOf } from '../../src/gateways/callback-address.ts';
import { MINUTE_MS } from '../../src/time.ts';
import { runAdmin } from '../support/admin-runs.ts';
import { request } from '../support/api-client.ts';
import { callbacksOf } from '../support/callbacks.ts';
import {
  type DarajaFlow,
  darajaFlow,
  type Initiated,
  TOP_UP_CENTS,
} from '../support/daraja-flow.ts';
import { darajaEnvironment } from '../support/daraja-under-test.ts';
import { rewrite } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { type FakeMerchant, startFakeMerchant } from '../support/fake-merchant.ts';
import { expectRightBooks } from '../support/ledger-check.ts';
import { historyOf } from '../support/payments.ts';
import { startTestService, type TestService } from '../support/test-service.ts';
import { walletBalance } from '../support/wallet-balance.ts';

const CONFIRMED = { confirm_above: '500.00' };
const M_PESA = 63902;

describe('What Daraja leaves in doubt', () => {
  let service: TestService;
  let shop: FakeMerchant;
  let flow: DarajaFlow;

  beforeEach(async () => {
    service = await startTestService({
      daraja: CONFIRMED,
      env: { REVERSAL_WAIT_MS: '500' },
    });
    shop = await startFakeMerchant();
    flow = darajaFlow(service, shop);
  });
  afterEach(async () => {
    await shop.close();
    await service.close();
  });

  const quirks = (rates: object) =>
    request('POST', `${service.darajaUrl}/faults`, { body: { quirks: rates } });

  const refOf = ({ kind, merchant: { merchant_id }, id }: Initiated) => ({ kind, merchant_id, id });

  /** Posts a callback about a payment as Daraja does, and returns how it was applied. */
  async function callBack(payment: Initiated, body: object): Promise<{ problem: string | null }> {
    const base = await service.callbackBase.require();
    const url = callbackUrlOf(service.config, base, await flow.current(payment));
    const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
    expect(answer.status).to.equal(200);
    return eventually('the callback to be applied', () =>
      firstRow<{ problem: string | null }>(
        service.database,
        `SELECT problem FROM callbacks WHERE payment_id = :id AND status <> 'stored'
           AND body = :body`,
        { id: payment.id, body: JSON.stringify(body) },
      ),
    );
  }

  const promptPaid = (CheckoutRequestID: string, shillings: number, receipt: string) => ({
    Body: {
      stkCallback: {
        ...{ CheckoutRequestID, ResultCode: 0, ResultDesc: 'Processed' },
        CallbackMetadata: {
          Item: [
            { Name: 'Amount', Value: shillings },
            { Name: 'MpesaReceiptNumber', Value: receipt },
          ],
        },
      },
    },
  });

  /** Makes a collection as old as if nobody had heard of it for long. */
  async function passDeadline({ id }: Initiated): Promise<void> {
    await rewrite(
      service.database,
      `UPDATE collections SET deadline_at = now() - interval '5 minutes' WHERE id = :id`,
      { id },
    );
  }

  /**
   * Runs `reconcile` as an operator, with Daraja's statement. It begins well before this test: a payment is ruled out
   * only between two lines.
   */
  async function reconcile(): Promise<Record<string, unknown>> {
    const day = (offsetMs: number) => new Date(Date.now() + offsetMs).toISOString().slice(0, 10);
    const days = ['--from', day(-120 * MINUTE_MS), '--to', day(0)];
    return admin(['reconcile', '--channel', String(M_PESA), ...days]);
  }

  async function admin(args: string[]): Promise<Record<string, unknown>> {
    const { stdout, stderr } = await runAdmin([...args, '--reason', 'test', '--json'], {
      env: {
        ...darajaEnvironment(service.darajaUrl!, CONFIRMED),
        ...{ DATABASE_URL: service.config.databaseUrl, PUBLIC_URL: service.origin },
        MALIPO_ACTOR: 'tester',
      },
    });
    expect(stderr).to.equal('');
    return JSON.parse(stdout);
  }

  /** Decides about the discrepancy of a payment as support. */
  async function decide({ id }: Initiated, kind: string, as: string): Promise<void> {
    const found = await firstRow<{ id: string }>(
      service.database,
      'SELECT id FROM discrepancies WHERE payment_id = :id AND kind = :kind',
      { id, kind },
    );
    await admin(['discrepancy', 'resolve', found!.id, '--as', as]);
  }

  it('stays open and is listed as overdue, until the statement settles it or rules it out', async () => {
    await quirks({ resetAfterTaking: 1, callbackLost: 1 });
    const paid = await flow.initiate('collection', '+254710001000');
    await eventually('the money', async () => (await flow.receipts(paid)).length === 1);
    await quirks({});
    const lost = await flow.initiate('collection', '+254710001105', { amount: '70.00' });
    for (const each of [paid, lost]) {
      await eventually('the first question', async () => {
        const { status, next_step } = await flow.current(each);
        return status === 'pending' && next_step === 'poll';
      });
      await passDeadline(each);
      await flow.found(each, 'overdue');
      expect((await flow.current(each)).status).to.equal('pending');
    }
    const answer = await reconcile();
    expect(answer.lines).to.include({ settled: 1, unknown: 0, contradicts: 0 });
    const [receipt] = await flow.receipts(paid);
    expect(await flow.ended(paid)).to.include({ status: 'completed', trans_id: receipt });
    expect(await flow.ended(lost)).to.include({ status: 'failed', trans_id: null });
    expect((await flow.signedWebhook(paid)).notification.event).to.equal('transaction.completed');
    expect((await flow.signedWebhook(lost)).notification.event).to.equal('transaction.failed');
    for (const each of [paid, lost]) {
      expect(await flow.findings(each)).to.deep.equal(['overdue (resolved)']);
    }
    await expectRightBooks(service.database);
  });

  it('proves a receipt that support gives, or refuses it, when Daraja is asked about it', async () => {
    const [phone, ofAnother] = ['+254710001000', '+254710002000'];
    const other = await flow.initiate('collection', ofAnother, { amount: '70.00' });
    await quirks({ resetAfterTaking: 1, callbackLost: 1 });
    const paid = await flow.initiate('collection', phone);
    const [receipt] = await eventually('the money', async () => {
      const receipts = await flow.receipts(paid);
      return receipts.length === 1 && receipts;
    });
    await quirks({});
    const [wrong] = await flow.receipts(other);
    const compare = async (given: string) =>
      compareReceipt(service.database, await flow.current(paid), given, service.parserOf);
    expect(await compare(receipt!)).to.equal(false);
    for (const given of [receipt!, wrong!, 'NOSUCH0000']) {
      await admin(['payment', 'ask-receipt', paid.id, '--trans-id', given]);
    }
    await eventually('the proof', () => compare(receipt!));
    const refused = (given: string, words: string) =>
      eventually(words, async () => {
        const problem = await compare(given).then(String, (error: Error) => error.message);
        return problem.includes(words);
      });
    await refused(wrong!, 'with another amount (KES 70.00)');
    await refused('NOSUCH0000', 'no completed transaction');
    expect((await flow.current(paid)).status).to.equal('pending');
    await expectRightBooks(service.database);
  });

  it('waits with a reversal until the statement tells the receipt of what it gives back', async () => {
    const collection = await flow.initiate('collection', '+254710003101');
    expect(await flow.ended(collection)).to.include({ status: 'completed', trans_id: null });
    const reversal = await flow.giveBack(collection);
    expect(await flow.current(reversal)).to.include({ status: 'pending', next_step: 'submit' });
    expect(await flow.receipts(reversal)).to.deep.equal([]);
    await reconcile();
    const [receipt] = await flow.receipts(collection);
    expect((await flow.current(collection)).trans_id).to.equal(receipt);
    const [givenBack] = await eventually('the money', async () => {
      await flow.hurry(reversal);
      const receipts = await flow.receipts(reversal);
      return receipts.length > 0 && receipts;
    });
    const end = await flow.ended(reversal);
    expect(end).to.include({ status: 'completed', trans_id: givenBack });
    await flow.signedWebhook(reversal);
    await expectRightBooks(service.database);
  });

  it('never blames the merchant for the operator’s trouble, and pauses payouts after three', async () => {
    const payouts = [];
    for (const part of ['120', '121', '120']) {
      const payout = await flow.initiate('payout', `+25471000${payouts.length}${part}`);
      payouts.push(payout);
      const end = await flow.ended(payout);
      expect(end).to.include({ status: 'failed', result_code: 90_000 });
      expect(end.result_description).to.equal('Payout could not be sent, try again later');
      const { data } = await flow.signedWebhook(payout);
      expect(data.result_description).to.equal('Payout could not be sent, try again later');
      const { merchant_id } = payout.merchant;
      expect(await walletBalance(service.database, merchant_id, 'payout')).to.equal(TOP_UP_CENTS);
      const isPaused = (await channelPauses(service.database)).has(M_PESA);
      expect(isPaused, `after ${payouts.length}`).to.equal(payouts.length === 3);
    }
    expect((await channelPauses(service.database)).get(M_PESA)).to.deep.include({
      what: ['payouts'],
    });
    const collection = await flow.initiate('collection', '+254710001000');
    expect((await flow.ended(collection)).status).to.equal('completed');
    await expectRightBooks(service.database);
  });

  it('completes a large collection only when Daraja says the same to a question', async () => {
    const large = await flow.initiate('collection', '+254710001000', { amount: '501.00' });
    expect((await flow.ended(large)).status).to.equal('completed');
    const history = await historyOf(service.database, refOf(large));
    expect(history.at(-1)).to.include({ to_status: 'completed', cause: 'poll' });
    const [receipt] = await flow.receipts(large);
    await eventually('the receipt', async () => (await flow.current(large)).trans_id === receipt);
    expect(await flow.findings(large)).to.deep.equal([]);
    const small = await flow.initiate('collection', '+254710002000', { amount: '500.00' });
    expect((await flow.ended(small)).status).to.equal('completed');
    await expectRightBooks(service.database);
  });

  it('asks the statement about a large collection whose acknowledgement was lost', async () => {
    const large = await flow.initiate('collection', '+254710001104', { amount: '501.00' });
    await eventually('the callback', () =>
      firstRow(service.database, 'SELECT 1 FROM callbacks WHERE payment_id = :id', large),
    );
    await passDeadline(large);
    await flow.found(large, 'unconfirmed_success');
    expect((await flow.current(large)).status).to.equal('pending');
    expect((await reconcile()).lines).to.include({ settled: 1 });
    const [receipt] = await flow.receipts(large);
    expect(await flow.ended(large)).to.include({ status: 'completed', trans_id: receipt });
    await eventually('the callback to be applied', () =>
      firstRow(
        service.database,
        `SELECT 1 FROM callbacks WHERE payment_id = :id AND status = 'processed'`,
        large,
      ),
    );
    expect(await flow.findings(large)).to.deep.equal(['unconfirmed_success (resolved)']);
    await expectRightBooks(service.database);
  });

  it('never sends a reversal again of which nobody knows whether it has arrived', async () => {
    const collection = await flow.initiate('collection', '+254710001000');
    await flow.ended(collection);
    await quirks({ resetBeforeTaking: 1 });
    const reversal = await flow.giveBack(collection);
    await eventually('the first question', async () => {
      const { next_step } = await flow.current(reversal);
      return next_step === 'poll';
    });
    await quirks({});
    await rewrite(
      service.database,
      `UPDATE reversals SET deadline_at = now() - interval '5 minutes', next_step_at = now()
       WHERE id = :id`,
      { id: reversal.id },
    );
    await flow.found(reversal, 'overdue');
    await reconcile();
    expect(await flow.current(reversal)).to.include({ status: 'pending', next_step: 'poll' });
    const counts = await (await fetch(`${service.darajaUrl}/counts`)).json();
    expect(counts).to.include({ '/mpesa/reversal/v1/request': 1 });
    await expectRightBooks(service.database);
  });

  it('keeps a reversal open whose collection was reversed before, until somebody says by which', async () => {
    const collection = await flow.initiate('collection', '+254710001000');
    await flow.ended(collection);
    await eventually('the receipt', async () => (await flow.current(collection)).trans_id);
    await quirks({ resetAfterTaking: 1, callbackLost: 1 });
    const first = await flow.giveBack(collection);
    const [receipt] = await eventually('the money', async () => {
      const receipts = await flow.receipts(first);
      return receipts.length === 1 && receipts;
    });
    await eventually('the first question', async () => {
      const { next_step } = await flow.current(first);
      return next_step === 'poll';
    });
    await rewrite(
      service.database,
      `UPDATE reversals SET deadline_at = now() - interval '5 minutes' WHERE id = :id`,
      { id: first.id },
    );
    await flow.found(first, 'overdue');
    await decide(first, 'overdue', 'failed');
    await quirks({});
    const second = await flow.giveBack(collection);
    await flow.found(second, 'unclear_result');
    const askedBefore = (await callbacksOf(service.database, second)).length;
    await eventually('Daraja’s answer that the second one was declined', async () => {
      const { status } = await flow.current(second);
      expect(status).to.equal('processing');
      const stored = await callbacksOf(service.database, second);
      return stored.length > askedBefore && stored.every((each) => each.status === 'processed');
    });
    expect((await flow.current(second)).status).to.equal('processing');
    await callBack(first, {
      Result: {
        ...{ ResultCode: 0, ResultDesc: 'Done', OriginatorConversationID: 'late-1' },
        ...{ ConversationID: 'AG_late', TransactionID: receipt },
        ResultParameters: { ResultParameter: { Key: 'Amount', Value: 100 } },
      },
    });
    await flow.found(first, 'second_reversal');
    await decide(second, 'unclear_result', 'failed');
    await decide(first, 'second_reversal', 'completed');
    expect(await flow.current(first)).to.include({ status: 'completed', trans_id: receipt });
    expect((await flow.current(second)).status).to.equal('failed');
    const { merchant_id } = collection.merchant;
    expect(await walletBalance(service.database, merchant_id, 'collection')).to.equal(0);
    await expectRightBooks(service.database);
  });

  it('books nothing for a large success that the question denies', async () => {
    await quirks({ callbackLost: 1 });
    const forged = await flow.initiate('collection', '+254710001032', { amount: '1000.00' });
    const name = await eventually(
      'Daraja’s reference',
      async () => (await flow.current(forged)).external_ref,
    );
    await callBack(forged, promptPaid(name, 1_000, 'FORGED0001'));
    expect(await flow.ended(forged)).to.include({ status: 'failed', result_code: 1032 });
    await flow.found(forged, 'unconfirmed_success');
    const { merchant_id } = forged.merchant;
    expect(await walletBalance(service.database, merchant_id, 'collection')).to.equal(0);
    await expectRightBooks(service.database);
  });

  it('books nothing for the callback or the receipt of another payment', async () => {
    const other = await flow.initiate('collection', '+254710001000');
    await flow.ended(other);
    // A question may end it before the callback tells the receipt.
    const receipt = await eventually(
      'the receipt',
      async () => (await flow.current(other)).trans_id,
    );
    const { external_ref } = await flow.current(other);
    const open = await flow.initiate('collection', '+254710001122');
    const name = await eventually(
      'Daraja’s reference',
      async () => (await flow.current(open)).external_ref,
    );
    for (const body of [
      promptPaid(external_ref!, 100, 'ANOTHER001'),
      promptPaid(name, 100, receipt),
    ]) {
      expect((await callBack(open, body)).problem).to.equal('it contradicts the payment');
    }
    await flow.found(open, 'other_payment', 'receipt_of_another');
    expect(await flow.current(open)).to.include({ status: 'processing', trans_id: null });
    const { merchant_id } = open.merchant;
    expect(await walletBalance(service.database, merchant_id, 'collection')).to.equal(0);
    expect(await flow.current(other)).to.include({ status: 'completed', trans_id: receipt });
    expect(await flow.findings(other)).to.deep.equal(['receipt_of_another']);
    await expectRightBooks(service.database);
  });
});
