import { expect } from 'chai';
import { firstRow, rows } from '../../src/connections/database.ts';
import {
  type DarajaFlow,
  darajaFlow,
  type FlowKind,
  type Initiated,
  phoneOf,
  TOP_UP_CENTS,
} from '../support/daraja-flow.ts';
import { eventually } from '../support/eventually.ts';
import { type FakeMerchant, startFakeMerchant } from '../support/fake-merchant.ts';
import { expectRightBooks } from '../support/ledger-check.ts';
import { flowBackends } from '../support/matrix.ts';
import { COMMISSION_CENTS } from '../support/payments.ts';
import { startTestService, type TestService } from '../support/test-service.ts';
import { walletBalance } from '../support/wallet-balance.ts';

const AMOUNT_CENTS = 10_000;

interface Ending {
  status: 'completed' | 'failed';
  code: number;
  /** How often Daraja has moved the money. */
  movements: number;
  findings?: string[];
}

const DONE: Ending = { status: 'completed', code: 0, movements: 1 };
const failed = (code: number): Ending => ({ status: 'failed', code, movements: 0 });
const done = (...parts: string[]) => Object.fromEntries(parts.map((part) => [part, DONE]));

/** How the payments of each kind end, by the last three digits of the customer's phone. */
const ENDINGS: Readonly<Record<FlowKind, Readonly<Record<string, Ending>>>> = {
  collection: {
    '001': failed(1),
    '032': failed(1032),
    '037': failed(1037),
    ...done('101', '102', '103', '104', '106', '108', '109', '110', '120', '121', '123'),
    // The late money goes back to the customer.
    '107': { ...failed(1037), movements: 1 },
  },
  payout: {
    '001': failed(2040),
    '032': failed(8),
    '037': failed(90_001),
    ...done('101', '102', '103', '104', '105', '106', '108', '109', '110', '123'),
    '107': { ...failed(2040), movements: 1, findings: ['paid_after_refund'] },
    // The code is not known, but the state that Daraja tells of the transaction is.
    '122': { ...failed(90_004), findings: ['unclear_result (resolved)'] },
  },
  reversal: {
    ...done('102', '103', '104', '106', '108', '110', '120', '121', '123'),
    '109': failed(90_002),
  },
};

/** Stay open, since another amount moved or nobody can tell how they have ended. */
const OPEN: readonly [kind: 'collection' | 'payout', part: string, finding: string | null][] = [
  ['collection', '105', null],
  ['collection', '111', 'other_amount'],
  ['collection', '122', 'unclear_result'],
  ['payout', '111', 'other_amount'],
];

for (const backend of flowBackends('postgres')) {
  describe(`A payment through Daraja, with its queues in ${backend}`, () => {
    let service: TestService;
    let shop: FakeMerchant;
    let flow: DarajaFlow;
    /** All under way at once. */
    const payments = new Map<string, Promise<Initiated>>();
    const paymentOf = (kind: FlowKind, part: string) => payments.get(`${kind} ${part}`)!;

    before(async () => {
      // The callback comes before the first question, which would tell no amount. On a busy machine no answer
      // counts as lost: a prompt without an acknowledgement cannot be asked about, and stays open.
      const env = { POLL_FIRST_MS: '1000', GATEWAY_TIMEOUT_MS: '20000' };
      service = await startTestService({ backend, daraja: {}, env });
      shop = await startFakeMerchant();
      flow = darajaFlow(service, shop);
      const initiated = [
        ...(['collection', 'payout'] as const).flatMap((kind) =>
          Object.keys(ENDINGS[kind]).map((part) => [kind, part] as const),
        ),
        ...OPEN,
      ];
      for (const [kind, part] of initiated) {
        payments.set(`${kind} ${part}`, flow.initiate(kind, phoneOf(kind, part)));
      }
      for (const part of Object.keys(ENDINGS.reversal)) {
        payments.set(`reversal ${part}`, reverse(part));
      }
      await Promise.all(payments.values());
    });
    after(async () => {
      await shop.close();
      await service.close();
    });

    /** Collects and gives back. */
    async function reverse(part: string): Promise<Initiated> {
      const collection = await flow.initiate('collection', phoneOf('reversal', part));
      await flow.ended(collection);
      await eventually('the receipt', async () => (await flow.current(collection)).trans_id);
      return flow.giveBack(collection);
    }

    for (const kind of ['collection', 'payout', 'reversal'] as const) {
      for (const [part, ending] of Object.entries(ENDINGS[kind])) {
        it(`ends ${ending.status}: ${kind} with a phone ending in ${part}`, async () => {
          const payment = await paymentOf(kind, part);
          const isDone = ending.status === 'completed';
          const end = await flow.ended(payment);
          expect(end).to.include({
            status: ending.status,
            result_code: ending.code,
            parked_reason: null,
          });
          await flow.found(payment, ...(ending.findings ?? []));
          expect(await flow.findings(payment)).to.deep.equal(ending.findings ?? []);
          const { notification, data } = await flow.signedWebhook(payment);
          const event = isDone ? 'transaction.completed' : 'transaction.failed';
          expect(notification).to.deep.equal({ type: kind, event });
          expect(data.amount).to.equal('100.00');
          await expectMoved(payment, ending);
          await expectRightBooks(service.database, payment.merchant.merchant_id);
        });
      }
    }

    async function expectMoved(payment: Initiated, { status, movements }: Ending): Promise<void> {
      const receipts = await eventually('the movements', async () => {
        const found = await flow.receipts(payment);
        return found.length >= movements && found;
      });
      expect(receipts).to.have.length(movements);
      const { trans_id } = await flow.current(payment);
      if (status === 'completed') expect(trans_id).to.be.oneOf([...receipts, null]);
      const { merchant_id } = payment.merchant;
      const inWallet = (wallet: 'collection' | 'payout') =>
        walletBalance(service.database, merchant_id, wallet);
      if (payment.kind === 'payout') {
        const left = Number(await inWallet('payout')) - TOP_UP_CENTS;
        if (status === 'failed') expect(left).to.equal(0);
        else expect(left).to.be.at.most(-AMOUNT_CENTS);
        return;
      }
      const isKept = (payment.kind === 'collection') === (status === 'completed');
      const net = AMOUNT_CENTS - COMMISSION_CENTS;
      expect(await inWallet('collection')).to.equal(isKept ? net : 0);
    }

    for (const [kind, part, finding] of OPEN) {
      it(`stays open: ${kind} with a phone ending in ${part}`, async () => {
        const payment = await paymentOf(kind, part);
        if (finding) await flow.found(payment, finding);
        const { status } = await flow.current(payment);
        expect(status).to.be.oneOf(['pending', 'processing']);
        expect(shop.webhooksFor(payment.ref_no)).to.deep.equal([]);
        await expectRightBooks(service.database, payment.merchant.merchant_id);
      });
    }

    it('gives the customer back what came after a failure', async () => {
      const payment = await paymentOf('collection', '107');
      const returned = await eventually('the return', () =>
        firstRow<{ trans_id: string }>(
          service.database,
          `SELECT trans_id FROM returns WHERE merchant_id = :merchant_id AND collection_id = :id
             AND status = 'completed'`,
          { merchant_id: payment.merchant.merchant_id, id: payment.id },
        ),
      );
      expect(await flow.receipts({ ...payment, kind: 'reversal' })).to.deep.equal([
        returned.trans_id,
      ]);
      await expectRightBooks(service.database, payment.merchant.merchant_id);
    });

    it('hears results, answers and timeouts at addresses of their own', async () => {
      const heard = await rows<{ kind: string; addresses: string }>(
        service.database,
        `SELECT payment_kind AS kind, string_agg(DISTINCT address, ' ' ORDER BY address) AS addresses
         FROM callbacks GROUP BY payment_kind ORDER BY payment_kind`,
      );
      expect(heard).to.deep.include({ kind: 'payout', addresses: 'answer result timeout' });
      // The questions about prompts are answered at once.
      expect(heard).to.deep.include({ kind: 'collection', addresses: 'result' });
    });

    it('asks for one token for all of them', async () => {
      const answer = await fetch(`${service.darajaUrl}/counts`);
      expect(await answer.json()).to.include({ '/oauth/v1/generate': 1 });
    });
  });
}
