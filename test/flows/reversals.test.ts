import { expect } from 'chai';
import type { Collection, Reversal } from '../../src/domain/payments/kinds.ts';
import { createReversal } from '../../src/domain/reversals/create-reversal.ts';
import { type FakeMerchant, startFakeMerchant } from '../support/fake-merchant.ts';
import { oneWebhook, statementOf } from '../support/flow-checks.ts';
import { accountBalance } from '../support/ledger-check.ts';
import { flowBackends } from '../support/matrix.ts';
import { walletBalance } from '../support/wallet-balance.ts';
import {
  AMOUNT_CENTS,
  COMMISSION_CENTS,
  eventually,
  NET_CENTS,
  newCollection,
  PROCESS_TYPES,
  reversalRequest,
  useService,
} from '../support/world.ts';

interface Expectation {
  behaviour: string;
  status: 'completed' | 'failed';
}

const ENDINGS: Readonly<Record<string, Expectation>> = {
  '678': { behaviour: 'success', status: 'completed' },
  '104': { behaviour: 'taken, but the answer is lost', status: 'completed' },
  '105': { behaviour: 'never arrived, and the answer is lost', status: 'completed' },
  '109': { behaviour: 'declined', status: 'failed' },
  '110': { behaviour: 'no answer, and success much later', status: 'completed' },
};
const DECLINED = '109';

for (const backend of flowBackends('postgres')) {
  describe(`A reversal, with its queues in ${backend}`, () => {
    const service = useService({ backend, workers: PROCESS_TYPES, merchant: 'none' });
    let shop: FakeMerchant;
    /** One for each ending, all under way at once. */
    const collections = new Map<string, Collection>();
    const reversals = new Map<string, Reversal>();

    before(async () => {
      shop = await startFakeMerchant();
      await Promise.all(
        Object.keys(ENDINGS).map(async (ending) => {
          const collection = await collect(ending);
          collections.set(ending, collection);
          reversals.set(ending, await giveBack(collection));
        }),
      );
    });

    after(async () => {
      await shop.close();
    });

    async function collect(ending: string): Promise<Collection> {
      const merchant = await service.newMerchant();
      const collection = await newCollection(service.database, merchant, {
        payfrom: `+254712345${ending}`,
        callback_url: shop.url,
      });
      return ended(collection);
    }

    const giveBack = (collection: Collection) =>
      createReversal(
        service.database,
        reversalRequest(collection, { callback_url: shop.url, reason: 'Out of stock' }),
      );

    const ended = <P extends Collection | Reversal>(payment: P): Promise<P> =>
      eventually(`the end of ${payment.kind} ${payment.ref_no}`, async () => {
        const current = await service.reread(payment);
        return ['completed', 'failed'].includes(current.status) && current;
      });

    for (const [ending, { behaviour, status }] of Object.entries(ENDINGS)) {
      it(`ends ${status} when the gateway answers with: ${behaviour}`, async () => {
        const collection = collections.get(ending)!;
        const reversal = await ended(reversals.get(ending)!);
        const isReversed = status === 'completed';
        expect(reversal).to.include({
          status,
          original_trans_id: collection.trans_id,
          next_step: null,
          parked_reason: null,
        });
        const { notification, data } = await oneWebhook(service, shop, reversal);
        expect(notification).to.deep.equal({
          type: 'reversal',
          event: isReversed ? 'transaction.completed' : 'transaction.failed',
        });
        expect(data).to.include({
          result_code: isReversed ? 0 : 1,
          amount: '100.00',
          checkout_ref_no: collection.ref_no,
          trans_id: reversal.trans_id ?? '',
          transaction_fee: '0.00',
        });
        await expectMoved(collection, reversal, isReversed);
      });
    }

    it('that was declined leaves the collection to another try under a new reference', async () => {
      const collection = collections.get(DECLINED)!;
      await ended(reversals.get(DECLINED)!);
      const second = await ended(await giveBack(collection));
      expect(second.status).to.equal('failed');
      const { notification } = await oneWebhook(service, shop, second);
      expect(notification.event).to.equal('transaction.failed');
      await expectMoved(collection, second, false);
    });

    /** What the gateway has moved for it, and what the merchant's books say of that. */
    async function expectMoved(
      collection: Collection,
      reversal: Reversal,
      isReversed: boolean,
    ): Promise<void> {
      expect(await statementOf(service, collection.id)).to.have.length(1);
      const statement = await statementOf(service, reversal.id);
      expect(statement).to.have.length(isReversed ? 1 : 0);
      for (const line of statement) {
        const { payfrom: account } = collection;
        expect(line).to.include({ kind: 'reversal', account, amount: '100.00' });
        expect(line.trans_id).to.equal(reversal.trans_id);
      }
      const merchant_id = collection.merchant_id;
      const kept = isReversed ? 0 : 1;
      const balance = (account: string) => accountBalance(service.database, merchant_id, account);
      expect(await walletBalance(service.database, merchant_id, 'collection')).to.equal(
        kept * NET_CENTS,
      );
      expect(await balance('commission')).to.equal(kept * COMMISSION_CENTS);
      expect((await balance('gateway_float')) + kept * AMOUNT_CENTS).to.equal(0);
      expect(await balance('suspense')).to.equal(0);
      expect(await service.discrepanciesOf(reversal.id)).to.deep.equal([]);
      await service.expectSoundLedger();
    }
  });
}
