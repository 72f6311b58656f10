import type { Service } from '../../src/boot.ts';
import { issueAppTokens } from '../../src/domain/merchants/access.ts';
import { createApp, createMerchant, type Product } from '../../src/domain/merchants/merchant.ts';

export interface TestMerchant {
  merchantId: number;
  appCode: number;
  appKey: string;
  appSecret: string;
  access: string;
}

let count = 0;

/** A merchant with an app and a fresh access token. */
export async function createTestMerchant(
  { database, config }: Pick<Service, 'database' | 'config'>,
  options: { approved?: boolean; products?: Product[] } = {},
): Promise<TestMerchant> {
  count += 1;
  const merchantId = await createMerchant(database, {
    name: `Merchant ${count}`,
    email: `merchant-${count}@test.example`,
    phoneNumber: '+254711000001',
    approved: options.approved ?? true,
  });
  const app = await createApp(database, config.secretsKeys, merchantId, {
    name: 'Till',
    products: options.products ?? ['collections', 'payouts'],
  });
  const { access } = await issueAppTokens(database, config, app);
  return { merchantId, ...app, access };
}
