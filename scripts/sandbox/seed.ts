import { randomBytes } from 'node:crypto';
import { type Database, firstRow } from '../../src/connections/database.ts';
import { type AppCredentials, createApp } from '../../src/domain/merchants/app.ts';
import { createMerchant } from '../../src/domain/merchants/merchant.ts';
import { createUser, type Role } from '../../src/domain/merchants/user.ts';
import type { KeyRing } from '../../src/process/key-ring.ts';
import { EmbeddedServiceError } from './processes/embedded-service-error.ts';
import { topUpPayoutWallet } from './top-up.ts';

export const EMAIL_DOMAIN = 'sandbox.example';
const PAYOUT_WALLET_CENTS = 50_000_000;
const ROLES: Role[] = ['Admin', 'Finance', 'Operator'];

export interface SandboxUser {
  email: string;
  password: string;
  role: Role;
}

export interface SandboxMerchant extends AppCredentials {
  merchant_id: number;
  users: SandboxUser[];
}

/**
 * Refuses a database that somebody works with, because the sandbox pays nobody.
 * @throws EmbeddedServiceError when there are merchants that no sandbox made.
 */
export async function refuseForeignDatabase(database: Database): Promise<void> {
  const foreign = await firstRow(
    database,
    'SELECT 1 FROM merchants WHERE email NOT LIKE :pattern',
    {
      pattern: `%@${EMAIL_DOMAIN}`,
    },
  );
  if (foreign) {
    throw new EmbeddedServiceError(
      'The database of DATABASE_URL has merchants that no sandbox made: give the sandbox one of its own',
    );
  }
}

/** Creates two merchants, each with an app, a filled payout wallet and a user of each role. */
export async function seedMerchants(
  database: Database,
  secretsKeys: KeyRing,
): Promise<SandboxMerchant[]> {
  return [
    await seedMerchant(database, secretsKeys, 'Duka la Mfano', '+254711000001'),
    await seedMerchant(database, secretsKeys, 'Soko la Mfano', '+254711000002'),
  ];
}

/** Creates a merchant with an app, a filled payout wallet and a user of each role. */
export async function seedMerchant(
  database: Database,
  secretsKeys: KeyRing,
  name: string,
  phoneNumber: string,
): Promise<SandboxMerchant> {
  const tag = randomBytes(4).toString('hex');
  const email = `hello-${tag}@${EMAIL_DOMAIN}`;
  const merchant_id = await createMerchant(database, {
    name,
    email,
    phone_number: phoneNumber,
    approved: true,
  });
  const credentials = await createApp(database, secretsKeys, merchant_id, {
    name: 'Till',
    products: ['collections', 'payouts'],
  });
  await topUpPayoutWallet(database, merchant_id, PAYOUT_WALLET_CENTS, 'sandbox-opening');
  const users: SandboxUser[] = ROLES.map((role) => ({
    email: `${role.toLowerCase()}-${tag}@${EMAIL_DOMAIN}`,
    password: randomBytes(12).toString('base64url'),
    role,
  }));
  // At once, because hashing a password takes long.
  await Promise.all(users.map((user) => createUser(database, merchant_id, user)));
  return { merchant_id, ...credentials, users };
}
