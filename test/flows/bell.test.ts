import { type FakeMerchant, startFakeMerchant } from '../support/fake-merchant.ts';
import { flowBackends } from '../support/matrix.ts';
import { eventually, PROCESS_TYPES, useService } from '../support/world.ts';

for (const backend of flowBackends('postgres')) {
  describe(`The bell of the dispatcher, with the queues in ${backend}`, () => {
    const service = useService({ backend, workers: PROCESS_TYPES });
    let shop: FakeMerchant;

    beforeEach(async () => {
      shop = await startFakeMerchant();
    });

    afterEach(() => shop.close());

    const rings = async () => (await service.meters.bellRings.get()).values[0]!.value;

    it('rings when a payment is accepted, and again for its steps', async () => {
      await eventually('the dispatcher listens', async () => (await rings()) > 0);
      const before = await rings();
      await service.client.initiate({ callback_url: shop.url });
      await eventually('two rings', async () => (await rings()) > before + 1);
    });
  });
}
