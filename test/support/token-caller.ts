import { createInterface } from 'node:readline';
import { openDatabase } from '../../src/connections/database.ts';
import { createTokenStore } from '../../src/domain/gateway-accounts/token-store.ts';
import { createDarajaClient } from '../../src/gateways/daraja/client.ts';
import { DEVELOPMENT_KEYS, keyRingFromText } from '../../src/process/key-ring.ts';
import { CREDENTIALS } from './token-provider.ts';

/*
 * A process that calls a provider: `token-caller.ts DATABASE_URL BASE_URL`. It makes one call for
 * each line that it reads, and writes the answer as a line.
 */
const TIMEOUT_MS = 20_000;
const [databaseUrl, baseUrl] = process.argv.slice(2) as [string, string];
const database = openDatabase(databaseUrl, 1, 'malipo-test');
const tokenStore = createTokenStore(database, keyRingFromText(DEVELOPMENT_KEYS));
const client = createDarajaClient({ ...CREDENTIALS, baseUrl, timeoutMs: TIMEOUT_MS, tokenStore });

console.log('"ready"');
for await (const _line of createInterface(process.stdin)) {
  console.log(JSON.stringify(await client.post('/mpesa/stkpush/v1/processrequest', {})));
}
await database.destroy();
