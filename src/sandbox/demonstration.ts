import { setTimeout as sleep } from 'node:timers/promises';
import { got } from 'got';
import type { Database } from '../database.ts';
import { formatAmount } from '../domain/money.ts';
import { walletBalance } from '../domain/wallets/wallet.ts';
import { EmbeddedServiceError } from './embedded/embedded-service-error.ts';
import { type MerchantReceiver, startMerchantReceiver } from './merchant-receiver.ts';
import type { SandboxMerchant } from './seed.ts';

const STEP_TIMEOUT_MS = 30_000;
const LOOK_INTERVAL_MS = 50;

interface Stage {
  baseUrl: string;
  gatewayUrl: string;
  database: Database;
  merchant: SandboxMerchant;
  say: (line: string) => void;
}

/**
 * Plays one collection that succeeds and one that is declined, as a merchant would see
 * them, and says each step as it happens.
 * @throws EmbeddedServiceError when a step does not come, or not as it should.
 */
export async function demonstrate(stage: Stage): Promise<void> {
  const receiver = await startMerchantReceiver(stage.merchant.appSecret);
  try {
    const { merchant, baseUrl, say } = stage;
    const tokens = await post<{ access: string }>(`${baseUrl}/auth/app/token`, {
      app_key: merchant.appKey,
      app_secret: merchant.appSecret,
    });
    say('Got an access token        POST /auth/app/token');
    await playCollection(stage, receiver, tokens.access, {
      title: 'A collection that the customer pays',
      refNo: 'demo-paid',
      payfrom: '+254712345678',
      expected: 'completed',
    });
    await playCollection(stage, receiver, tokens.access, {
      title: 'A collection that is declined (phones ending in 001 have no money)',
      refNo: 'demo-declined',
      payfrom: '+254712345001',
      expected: 'failed',
    });
  } finally {
    await receiver.close();
  }
}

interface Scene {
  title: string;
  refNo: string;
  payfrom: string;
  expected: 'completed' | 'failed';
}

async function playCollection(
  { baseUrl, gatewayUrl, database, merchant, say }: Stage,
  receiver: MerchantReceiver,
  access: string,
  { title, refNo, payfrom, expected }: Scene,
): Promise<void> {
  say(`\n${title}`);
  const webhookComes = receiver.webhookFor(refNo);
  const { id, status } = await post<{ id: string; status: string }>(
    `${baseUrl}/collections/checkouts/initiate`,
    {
      payfrom,
      amount: '250.00',
      ref_no: refNo,
      account_number: 'INV-7',
      callback_url: receiver.url,
    },
    access,
  );
  say(`  request    POST /collections/checkouts/initiate  250.00 from ${payfrom}  ->  ${status}`);
  const ended = await follow(`${baseUrl}/collections/checkouts/${id}`, access, status, say);
  const movements = await get<unknown[]>(`${gatewayUrl}/statement?reference=${id}`);
  const moved = movements.length > 0 ? `receipt ${ended.trans_id}` : 'no money moved';
  say(`  gateway    ${ended.result_description} (code ${ended.result_code}), ${moved}`);
  const webhook = await within(webhookComes, `no webhook came for ${refNo}`);
  const signature = webhook.verified ? 'signature verified' : 'SIGNATURE NOT VALID';
  say(`  webhook    ${webhook.payload.notification.event}, ${signature}`);
  const balance = await walletBalance(database, merchant.merchantId, 'collection');
  say(`  wallet     collection wallet ${formatAmount(balance ?? 0)} KES`);
  if (ended.status !== expected || !webhook.verified) {
    throw new EmbeddedServiceError(`The collection ${refNo} did not end as it should`);
  }
}

interface Detail {
  status: string;
  result_code: number | null;
  result_description: string | null;
  trans_id: string | null;
}

/** Says every state that the collection goes through until it ends. */
async function follow(
  url: string,
  access: string,
  status: string,
  say: Stage['say'],
): Promise<Detail> {
  const deadline = Date.now() + STEP_TIMEOUT_MS;
  let shown = status;
  while (Date.now() < deadline) {
    const detail = await get<Detail>(url, access);
    if (detail.status !== shown) say(`  state      ${shown} -> ${detail.status}`);
    shown = detail.status;
    if (shown === 'completed' || shown === 'failed') return detail;
    await sleep(LOOK_INTERVAL_MS);
  }
  throw new EmbeddedServiceError(`The collection stayed ${shown}: see the logs of the workers`);
}

async function within<Result>(promise: Promise<Result>, problem: string): Promise<Result> {
  const late = sleep(STEP_TIMEOUT_MS, undefined, { ref: false }).then(() => {
    throw new EmbeddedServiceError(problem);
  });
  return Promise.race([promise, late]);
}

function headersFor(access?: string) {
  return access ? { authorization: `Bearer ${access}` } : {};
}

function post<Result>(url: string, json: object, access?: string): Promise<Result> {
  return got.post(url, { json, headers: headersFor(access), retry: { limit: 0 } }).json<Result>();
}

function get<Result>(url: string, access?: string): Promise<Result> {
  return got.get(url, { headers: headersFor(access), retry: { limit: 0 } }).json<Result>();
}
