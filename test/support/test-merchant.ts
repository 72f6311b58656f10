import { issueAppTokens, logInUser } from '../../src/domain/credentials/log-in.ts';
import type { TokenPair } from '../../src/domain/credentials/tokens.ts';
import { createApp, type Product } from '../../src/domain/merchants/app.ts';
import { createMerchant } from '../../src/domain/merchants/merchant.ts';
import { createUser, type Role } from '../../src/domain/merchants/user.ts';
import type { Service } from '../../src/service/service.ts';

export interface TestMerchant {
  merchant_id: number;
  app_code: number;
  app_key: string;
  app_secret: string;
  access: string;
}

let count = 0;

/** A merchant with an app, and a fresh access token unless it asks for nothing. */
export async function createTestMerchant(
  { database, config }: Pick<Service, 'database' | 'config'>,
  options: { approved?: boolean; products?: Product[]; token?: boolean } = {},
): Promise<TestMerchant> {
  count += 1;
  const merchant_id = await createMerchant(database, {
    name: `Merchant ${count}`,
    email: `merchant-${count}@test.example`,
    phone_number: '+254711000001',
    approved: options.approved ?? true,
  });
  const app = await createApp(database, config.secretsKeys, merchant_id, {
    name: 'Till',
    products: options.products ?? ['collections', 'payouts'],
  });
  const { token = true } = options;
  const { access } = token ? await issueAppTokens(database, config, app) : { access: '' };
  return { merchant_id, ...app, access };
}

export interface TestUser extends TokenPair {
  userId: string;
  email: string;
  password: string;
}

/** A person of a merchant, who has just logged in. */
export async function createTestUser(
  { database, config }: Pick<Service, 'database' | 'config'>,
  merchant_id: number,
  role: Role = 'Admin',
): Promise<TestUser> {
  count += 1;
  const email = `user-${count}@test.example`;
  const password = `correct horse ${count}`;
  const userId = await createUser(database, merchant_id, { email, password, role });
  const { access, refresh } = await logInUser(database, config, { email, password });
  return { userId, email, password, access, refresh };
}

/** Another app of a merchant, with tokens of its own. */
export async function createTestApp(
  { database, config }: Pick<Service, 'database' | 'config'>,
  merchant_id: number,
  products: Product[] = ['collections'],
) {
  const app = await createApp(database, config.secretsKeys, merchant_id, {
    name: 'Second till',
    products,
  });
  return { ...(await issueAppTokens(database, config, app)), ...app };
}
