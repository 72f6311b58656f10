import { type FakeMerchant, startFakeMerchant } from '../../../../test/support/fake-merchant.ts';
import { createTestMerchant, type TestMerchant } from '../../../../test/support/test-merchant.ts';
import { startTestService, type TestService } from '../../../../test/support/test-service.ts';
import { createClient, type MalipoClient } from '../../src/index.ts';
import { type Front, startFront } from './front.ts';

export interface ClientWorld {
  service: TestService;
  shop: FakeMerchant;
  /** Every test begins with one that lets everything pass. */
  front: Front;
  /** Returns a new client of a merchant's app, behind the front. */
  clientOf(merchant: TestMerchant): MalipoClient;
  newMerchant(): Promise<TestMerchant>;
  /** Returns a body for a new collection whose outcome goes to the shop. */
  collection(ref_no: string): NewCollection;
  close(): Promise<void>;
}

type NewCollection = Record<
  'payfrom' | 'amount' | 'ref_no' | 'account_number' | 'callback_url',
  string
>;

/** The whole service, as the sandbox runs it, and a shop that uses the client. */
export async function startClientWorld(
  options: Parameters<typeof startTestService>[0] = {},
): Promise<ClientWorld> {
  const service = await startTestService(options);
  const shop = await startFakeMerchant();
  const front = await startFront(service.origin);
  return {
    ...{ service, shop, front },
    newMerchant: () => createTestMerchant(service),
    clientOf: ({ app_key, app_secret }) =>
      createClient({
        baseUrl: `${front.origin}/api/v1`,
        appKey: app_key,
        appSecret: app_secret,
      }),
    collection: (ref_no) => ({
      payfrom: '+254712345678',
      amount: '100.00',
      ref_no,
      account_number: 'INV-1',
      callback_url: shop.url,
    }),
    close: async () => {
      await front.close();
      await shop.close();
      await service.close();
    },
  };
}
