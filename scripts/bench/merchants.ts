import type { Database } from '../../src/connections/database.ts';
import { type AppCredentials, createApp } from '../../src/domain/merchants/manage-apps.ts';
import { createMerchant } from '../../src/domain/merchants/manage-merchants.ts';
import type { KeyRing } from '../../src/process/key-ring.ts';
import { BenchError } from './bench-error.ts';

const NAMES = ['Kubwa', 'Ndogo'] as const;
const TOKEN_TIMEOUT_MS = 10_000;

/** A merchant to measure with: it has one app, and nothing else yet. */
export interface BenchMerchant extends AppCredentials {
  merchant_id: number;
}

/** Makes merchants, by default two; the first is the large one where it matters. */
export async function createMerchants(
  database: Database,
  secretsKeys: KeyRing,
  names: readonly string[] = NAMES,
): Promise<BenchMerchant[]> {
  const merchants: BenchMerchant[] = [];
  for (const [index, name] of names.entries()) {
    const merchant_id = await createMerchant(database, {
      name,
      email: `${name.toLowerCase()}@bench.example`,
      phone_number: `+2547110000${String(index).padStart(2, '0')}`,
      approved: true,
    });
    const products = ['collections' as const, 'payouts' as const];
    const app = await createApp(database, secretsKeys, merchant_id, { name: 'Till', products });
    merchants.push({ merchant_id, ...app });
  }
  return merchants;
}

/** A fresh access token of a merchant's app. @throws BenchError when it is refused */
export async function tokenOf(baseUrl: string, merchant: BenchMerchant): Promise<string> {
  const answer = await fetch(`${baseUrl}/auth/app/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ app_key: merchant.app_key, app_secret: merchant.app_secret }),
    signal: AbortSignal.timeout(TOKEN_TIMEOUT_MS),
  });
  const { access } = (await answer.json()) as { access?: string };
  if (!answer.ok || !access) throw new BenchError(`No token was given (HTTP ${answer.status})`);
  return access;
}
