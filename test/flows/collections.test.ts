import { expect } from 'chai';
import { type FakeMerchant, startFakeMerchant } from '../support/fake-merchant.ts';
import { oneWebhook, statementOf } from '../support/flow-checks.ts';
import { accountBalance } from '../support/ledger-check.ts';
import { flowBackends } from '../support/matrix.ts';
import { walletBalance } from '../support/wallet-balance.ts';
import {
  type Answer,
  collectionBody,
  eventually,
  PROCESS_TYPES,
  request,
  type TestMerchant,
  useService,
} from '../support/world.ts';

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

const FAILURE_THEN_SUCCESS = '107';
const OTHER_AMOUNT = '111';

/** A collection as its merchant knows it. */
interface Initiated {
  merchant: TestMerchant;
  id: string;
  ref_no: string;
}

for (const backend of flowBackends('postgres')) {
  describe(`A collection, with its queues in ${backend}`, () => {
    const service = useService({ backend, workers: PROCESS_TYPES, merchant: 'none' });
    let shop: FakeMerchant;
    /** One for each ending, all under way at once. */
    const initiated = new Map<string, Initiated>();

    before(async () => {
      shop = await startFakeMerchant();
      for (const phoneEnding of [...ENDINGS.map((ending) => ending.phoneEnding), OTHER_AMOUNT]) {
        initiated.set(phoneEnding, await initiate(phoneEnding));
      }
    });

    after(async () => {
      await shop.close();
    });

    const balance = ({ merchant }: Initiated, account: string) =>
      accountBalance(service.database, merchant.merchant_id, account);

    const wallet = ({ merchant }: Initiated) =>
      walletBalance(service.database, merchant.merchant_id, 'collection');

    for (const ending of ENDINGS) {
      it(`ends ${ending.status} when the gateway answers with: ${ending.behaviour}`, async () => {
        const collection = initiated.get(ending.phoneEnding)!;
        const detail = await ended(collection);
        expect(detail.body.status).to.equal(ending.status);
        expect(detail.body.result_code).to.equal(ending.code);
        const { notification, data } = await oneWebhook(service, shop, collection);
        expect(notification).to.deep.equal({
          type: 'collection',
          event: ending.status === 'completed' ? 'transaction.completed' : 'transaction.failed',
        });
        expect(data.result_code).to.equal(ending.code);
        await expectMovements(collection, ending);
        const net = ending.status === 'completed' ? AMOUNT_CENTS - COMMISSION_CENTS : 0;
        expect(await wallet(collection)).to.equal(net);
        expect(await balance(collection, 'suspense')).to.equal(0);
        await service.expectAllRightBooks();
      });
    }

    it('stays open on the support list when another amount was paid, with that amount in suspense', async () => {
      const collection = initiated.get(OTHER_AMOUNT)!;
      const discrepancy = await eventually('a discrepancy', () =>
        service.firstRow<{ kind: string; amount_cents: number }>(
          'SELECT * FROM discrepancies WHERE merchant_id = :merchant_id AND payment_id = :id',
          { merchant_id: collection.merchant.merchant_id, id: collection.id },
        ),
      );
      expect(discrepancy.kind).to.equal('other_amount');
      expect(discrepancy.amount_cents).to.not.equal(AMOUNT_CENTS);
      const detail = await detailOf(collection);
      expect(detail.body.status).to.be.oneOf(['pending', 'processing']);
      expect(await wallet(collection)).to.equal(0);
      expect(await balance(collection, 'suspense')).to.equal(discrepancy.amount_cents);
      expect(shop.webhooksFor(collection.ref_no)).to.deep.equal([]);
    });

    it('gives the money of a late success back to the customer and settles the suspense', async () => {
      const collection = initiated.get(FAILURE_THEN_SUCCESS)!;
      const returned = await eventually('the return', () =>
        service.firstRow<{ status: string; account: string; amount_cents: number }>(
          `SELECT * FROM returns
           WHERE merchant_id = :merchant_id AND collection_id = :id AND status = 'completed'`,
          { merchant_id: collection.merchant.merchant_id, id: collection.id },
        ),
      );
      expect(returned.account).to.equal('+254712345107');
      expect(returned.amount_cents).to.equal(AMOUNT_CENTS);
      expect(await balance(collection, 'suspense')).to.equal(0);
      expect(await balance(collection, 'gateway_float')).to.equal(0);
    });

    async function initiate(phoneEnding: string): Promise<Initiated> {
      const merchant = await service.newMerchant();
      const answer = await request('POST', `${service.baseUrl}/collections/checkouts/initiate`, {
        access: merchant.access,
        body: collectionBody({ payfrom: `+254712345${phoneEnding}`, callback_url: shop.url }),
      });
      expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
      expect(answer.body.status).to.equal('pending');
      return { merchant, ...answer.body };
    }

    function detailOf({ merchant, id }: Initiated): Promise<Answer> {
      return request('GET', `${service.baseUrl}/collections/checkouts/${id}`, {
        access: merchant.access,
      });
    }

    function ended(collection: Initiated): Promise<Answer> {
      return eventually(`the end of ${collection.id}`, async () => {
        const detail = await detailOf(collection);
        return ['completed', 'failed'].includes(detail.body.status) && detail;
      });
    }

    /** What the gateway has moved for this collection, and the returns that it led to. */
    async function expectMovements(
      { merchant, id }: Initiated,
      { statement }: Expectation,
    ): Promise<void> {
      const bindings = { merchant_id: merchant.merchant_id, id };
      const returns = () =>
        service.rows<{ id: string; status: string }>(
          'SELECT id, status FROM returns WHERE merchant_id = :merchant_id AND collection_id = :id',
          bindings,
        );
      await eventually('the movements at the gateway', async () => {
        const ids = [id, ...(await returns()).map((row) => row.id)];
        const lines = await Promise.all(ids.map((each) => statementOf(service, each)));
        const kinds = lines.flat().map(({ kind }) => kind);
        return kinds.join() === statement.join();
      });
      await eventually('every return to end', async () =>
        (await returns()).every(({ status }) => status === 'completed'),
      );
    }
  });
}
