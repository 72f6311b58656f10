import { expect } from 'chai';
import { firstRow, rows } from '../../src/database.ts';
import { walletBalance } from '../../src/domain/wallets/wallet.ts';
import { type Answer, collectionBody, request } from '../support/api-client.ts';
import { backendsUnderTest } from '../support/environment.ts';
import { eventually } from '../support/eventually.ts';
import { type FakeMerchant, startFakeMerchant } from '../support/fake-merchant.ts';
import { accountBalance, expectRightBooks } from '../support/ledger-check.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';
import { startTestService, type TestService } from '../support/test-service.ts';

const AMOUNT_CENTS = 10_000;
const COMMISSION_CENTS = 150;

interface Expectation {
  phoneEnding: string;
  behaviour: string;
  status: 'completed' | 'failed';
  code: number;
  /** Movements at the gateway: kinds in order. */
  statement: readonly string[];
}

const PAID = { status: 'completed', code: 0, statement: ['collection'] } as const;

const ENDINGS: Expectation[] = [
  { phoneEnding: '678', behaviour: 'success', ...PAID },
  { phoneEnding: '001', behaviour: 'insufficient funds', status: 'failed', code: 1, statement: [] },
  { phoneEnding: '032', behaviour: 'cancelled', status: 'failed', code: 1032, statement: [] },
  { phoneEnding: '037', behaviour: 'no answer', status: 'failed', code: 1037, statement: [] },
  { phoneEnding: '101', behaviour: 'no callback, polling finds it', ...PAID },
  { phoneEnding: '102', behaviour: 'the callback comes twice', ...PAID },
  { phoneEnding: '103', behaviour: 'the callback overtakes the acknowledgement', ...PAID },
  { phoneEnding: '104', behaviour: 'taken, but the answer is lost', ...PAID },
  { phoneEnding: '105', behaviour: 'never arrived, and the answer is lost', ...PAID },
  { phoneEnding: '106', behaviour: '503 twice, then taken', ...PAID },
  {
    phoneEnding: '107',
    behaviour: 'failure, then success',
    status: 'failed',
    code: 1037,
    statement: ['collection', 'reversal'],
  },
  { phoneEnding: '108', behaviour: 'success after a long time', ...PAID },
];

for (const backend of backendsUnderTest()) {
  describe(`A collection, with its queues in ${backend}`, () => {
    let service: TestService;
    let shop: FakeMerchant;
    let merchant: TestMerchant;

    before(async () => {
      service = await startTestService({ backend });
      shop = await startFakeMerchant();
    });

    after(async () => {
      await shop.close();
      await service.close();
    });

    beforeEach(async () => {
      merchant = await createTestMerchant(service);
    });

    for (const ending of ENDINGS) {
      it(`ends ${ending.status} when the gateway answers with: ${ending.behaviour}`, async () => {
        const { id, ref_no } = await initiate(ending.phoneEnding);
        const detail = await ended(id);
        expect(detail.body.status).to.equal(ending.status);
        expect(detail.body.result_code).to.equal(ending.code);
        await expectOneWebhook(ref_no, ending);
        await expectMovements(id, ending);
        const net = ending.status === 'completed' ? AMOUNT_CENTS - COMMISSION_CENTS : 0;
        expect(await walletBalance(service.database, merchant.merchantId, 'collection')).to.equal(
          net,
        );
        expect(await accountBalance(service.database, merchant.merchantId, 'suspense')).to.equal(0);
        await expectRightBooks(service.database);
      });
    }

    it('stays open on the support list when another amount was paid, with that amount in suspense', async () => {
      const { id, ref_no } = await initiate('111');
      const discrepancy = await eventually('a discrepancy', () =>
        firstRow<{ kind: string; amount_cents: number }>(
          service.database,
          'SELECT * FROM discrepancies WHERE merchant_id = :merchant_id AND payment_id = :id',
          { merchant_id: merchant.merchantId, id },
        ),
      );
      expect(discrepancy.kind).to.equal('other_amount');
      expect(discrepancy.amount_cents).to.not.equal(AMOUNT_CENTS);
      const detail = await detailOf(id);
      expect(detail.body.status).to.be.oneOf(['pending', 'processing']);
      expect(await walletBalance(service.database, merchant.merchantId, 'collection')).to.equal(0);
      expect(await accountBalance(service.database, merchant.merchantId, 'suspense')).to.equal(
        discrepancy.amount_cents,
      );
      expect(shop.webhooksFor(ref_no)).to.deep.equal([]);
    });

    it('gives the money of a late success back to the customer and settles the suspense', async () => {
      const { id } = await initiate('107');
      const returned = await eventually('the return', () =>
        firstRow<{ status: string; account: string; amount_cents: number }>(
          service.database,
          `SELECT * FROM returns
           WHERE merchant_id = :merchant_id AND collection_id = :id AND status = 'completed'`,
          { merchant_id: merchant.merchantId, id },
        ),
      );
      expect(returned.account).to.equal('+254712345107');
      expect(returned.amount_cents).to.equal(AMOUNT_CENTS);
      expect(await accountBalance(service.database, merchant.merchantId, 'suspense')).to.equal(0);
      expect(await accountBalance(service.database, merchant.merchantId, 'gateway_float')).to.equal(
        0,
      );
    });

    async function initiate(phoneEnding: string): Promise<{ id: string; ref_no: string }> {
      const answer = await request('POST', `${service.baseUrl}/collections/checkouts/initiate`, {
        access: merchant.access,
        body: collectionBody({ payfrom: `+254712345${phoneEnding}`, callback_url: shop.url }),
      });
      expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
      expect(answer.body.status).to.equal('pending');
      return answer.body;
    }

    function detailOf(id: string): Promise<Answer> {
      return request('GET', `${service.baseUrl}/collections/checkouts/${id}`, {
        access: merchant.access,
      });
    }

    function ended(id: string): Promise<Answer> {
      return eventually(`the end of ${id}`, async () => {
        const detail = await detailOf(id);
        return ['completed', 'failed'].includes(detail.body.status) && detail;
      });
    }

    async function expectOneWebhook(refNo: string, ending: Expectation): Promise<void> {
      const [webhook] = await eventually('the webhook', async () => {
        const webhooks = shop.webhooksFor(refNo);
        return webhooks.length > 0 && webhooks;
      });
      expect(webhook!.payload.notification).to.deep.equal({
        type: 'collection',
        event: ending.status === 'completed' ? 'transaction.completed' : 'transaction.failed',
      });
      expect(webhook!.payload.data.result_code).to.equal(ending.code);
      expect(
        new Set(shop.webhooksFor(refNo).map(({ headers }) => headers['webhook-id'])).size,
      ).to.equal(1);
      const events = await rows(
        service.database,
        'SELECT id FROM events WHERE merchant_id = :merchant_id',
        { merchant_id: merchant.merchantId },
      );
      expect(events).to.have.length(1);
    }

    /** What the gateway has moved for this collection, and the returns that it led to. */
    async function expectMovements(id: string, ending: Expectation): Promise<void> {
      await eventually('the movements at the gateway', async () => {
        const { body } = await request('GET', `${service.simulatorUrl}/statement`);
        const returns = await rows<{ id: string }>(
          service.database,
          'SELECT id FROM returns WHERE merchant_id = :merchant_id AND collection_id = :id',
          { merchant_id: merchant.merchantId, id },
        );
        const references = [id, ...returns.map((row) => row.id)];
        const kinds = (body as { reference: string; kind: string }[])
          .filter(({ reference }) => references.includes(reference))
          .map(({ kind }) => kind);
        return kinds.join() === ending.statement.join();
      });
      const open = await eventually('every return to end', async () => {
        const rest = await rows(
          service.database,
          `SELECT id FROM returns WHERE merchant_id = :merchant_id AND status <> 'completed'`,
          { merchant_id: merchant.merchantId },
        );
        return rest.length === 0 && [rest];
      });
      expect(open).to.deep.equal([[]]);
    }
  });
}
