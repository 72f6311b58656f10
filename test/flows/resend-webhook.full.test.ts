import { expect } from 'chai';
import { runHere } from '../support/admin.ts';
import { type FakeMerchant, startFakeMerchant } from '../support/fake-merchant.ts';
import { flowBackends } from '../support/matrix.ts';
import { eventually, newCollection, PROCESS_TYPES, useService } from '../support/world.ts';

const GONE = 410;

for (const backend of flowBackends('postgres')) {
  describe(`A webhook that is sent again, with the queues in ${backend}`, () => {
    const service = useService({ backend, workers: PROCESS_TYPES, merchant: 'none' });
    let shop: FakeMerchant;

    before(async () => {
      shop = await startFakeMerchant();
    });

    after(async () => {
      await shop.close();
    });

    it('comes to a receiver that had stopped it, and once more to one that has it, as the same', async () => {
      const ref_no = 'resent-1';
      const merchant = await service.newMerchant();
      shop.answerWith(() => GONE);
      await newCollection(service.database, merchant, { ref_no, callback_url: shop.url });
      const [first] = await eventually('the first copy', async () => {
        const received = shop.webhooksFor(ref_no);
        return received.length === 1 && received;
      });
      const id = String(first!.headers['webhook-id']);
      const become = (status: string) =>
        eventually(status, async () => {
          const { data } = await runHere(service, `webhooks show ${id}`);
          return data.status === status;
        });
      await become('stopped');
      shop.answerWith(() => 200);
      for (const copies of [2, 3]) {
        const { data } = await runHere(service, `webhooks resend ${id}`);
        expect(data).to.include({ id, resent: true });
        await eventually('the next copy', async () => shop.webhooksFor(ref_no).length === copies);
        await become('delivered');
      }
      const copies = shop.webhooksFor(ref_no);
      expect(new Set(copies.map(({ body }) => body)).size).to.equal(1);
      for (const name of ['webhook-id', 'x-service-event-sequence']) {
        expect(new Set(copies.map(({ headers }) => headers[name])).size, name).to.equal(1);
      }
      const { data } = await runHere(service, `webhooks show ${id}`);
      const attempts = data.attempts_made as { response_status: number }[];
      expect(attempts.map(({ response_status }) => response_status)).to.deep.equal([
        GONE,
        200,
        200,
      ]);
    });
  });
}
