import { setTimeout as sleep } from 'node:timers/promises';
import { got } from 'got';
import type { Database } from '../../src/connections/database.ts';
import { formatAmount } from '../../src/domain/money.ts';
import { walletBalances } from '../../src/domain/wallets/list-transactions.ts';
import type { MerchantReceiver } from './merchant-receiver.ts';
import { EmbeddedServiceError } from './processes/embedded-service-error.ts';
import type { SandboxMerchant } from './seed.ts';

const STEP_TIMEOUT_MS = 30_000;
const LOOK_INTERVAL_MS = 50;
const AMOUNT = '250.00';

/** The sandbox and the merchant that play the scenes. */
export interface Play {
  baseUrl: string;
  database: Database;
  merchant: SandboxMerchant;
  access: string;
  receiver: MerchantReceiver;
  say: (line: string) => void;
}

/** One payment and its expected end. */
export interface Scene {
  title: string;
  kind: 'collection' | 'payout' | 'reversal';
  refNo: string;
  /** The phone that pays or is paid. */
  account: string;
  /** The reference of the collection that a reversal undoes. */
  checkoutRefNo?: string;
  expected: 'completed' | 'failed' | 'reversed';
}

/**
 * Plays one payment from the request to the verified webhook.
 * @throws EmbeddedServiceError when a step does not happen, or not as expected.
 */
export async function playScene(play: Play, scene: Scene): Promise<void> {
  const { receiver, say } = play;
  say(`\n${scene.title}`);
  const webhookComes = receiver.webhookFor(scene.refNo);
  const ended = await follow(play, scene, await initiate(play, scene));
  const receipt = ended.trans_id ? `, receipt ${ended.trans_id}` : ', no money moved';
  say(`  gateway    ${ended.result_description}${receipt}`);
  const webhook = await within(webhookComes, `no webhook came for ${scene.refNo}`);
  const signature = webhook.verified ? 'signature verified' : 'SIGNATURE NOT VALID';
  const { type, event } = webhook.payload.notification;
  say(`  webhook    ${type} ${event}, ${signature}`);
  await sayWallets(play);
  if (ended.state !== scene.expected || !webhook.verified) {
    throw new EmbeddedServiceError(`The ${scene.kind} ${scene.refNo} did not end as it should`);
  }
}

interface Detail {
  id: string;
  status: string | number;
  status_label?: string;
  result_description: string | null;
  trans_id: string | null;
}

const PATHS = {
  collection: '/collections/checkouts/initiate',
  payout: '/payouts/initiate',
  reversal: '/reversals/initiate',
} as const;

async function initiate(play: Play, scene: Scene): Promise<Detail> {
  const path = PATHS[scene.kind];
  const json = requestOf(play, scene);
  const detail = await got
    .post(`${play.baseUrl}${path}`, { json, headers: headersOf(play), retry: { limit: 0 } })
    .json<Detail>();
  const what =
    scene.kind === 'reversal'
      ? `of ${scene.checkoutRefNo}`
      : `${AMOUNT} ${scene.kind === 'payout' ? 'to' : 'from'} ${scene.account}`;
  play.say(`  request    POST ${path}  ${what}  ->  ${stateOf(detail)}`);
  return detail;
}

function requestOf({ merchant, receiver }: Play, scene: Scene): Record<string, unknown> {
  const common = { ref_no: scene.refNo, callback_url: receiver.url };
  switch (scene.kind) {
    case 'collection':
      return { ...common, payfrom: scene.account, amount: AMOUNT, account_number: 'INV-7' };
    case 'payout':
      return { ...common, payto: scene.account, amount: AMOUNT, app_code: merchant.app_code };
    case 'reversal':
      return { ...common, checkout_ref_no: scene.checkoutRefNo, reason: 'Out of stock' };
  }
}

const ENDED = ['completed', 'failed', 'reversed'];

/** Prints every state of the payment until it ends. */
async function follow(
  play: Play,
  scene: Scene,
  first: Detail,
): Promise<Detail & { state: string }> {
  const { baseUrl, say } = play;
  const url = {
    collection: `${baseUrl}/collections/checkouts/${first.id}`,
    payout: `${baseUrl}/payouts/${first.id}`,
    reversal: `${baseUrl}/reversals/${scene.refNo}`,
  }[scene.kind];
  const deadline = Date.now() + STEP_TIMEOUT_MS;
  let shown = stateOf(first);
  while (Date.now() < deadline) {
    const detail = await got(url, { headers: headersOf(play), retry: { limit: 0 } }).json<Detail>();
    const state = stateOf(detail);
    if (state !== shown) say(`  state      ${shown} -> ${state}`);
    shown = state;
    if (ENDED.includes(state)) return { ...detail, state };
    await sleep(LOOK_INTERVAL_MS);
  }
  throw new EmbeddedServiceError(`The ${scene.kind} stayed ${shown}: see the logs of the workers`);
}

/** Returns the state in words: a reversal has numbers, with words beside them. */
function stateOf({ status, status_label }: Detail): string {
  return status_label ?? String(status);
}

async function sayWallets({ database, merchant, say }: Play): Promise<void> {
  const { collection, payout } = await walletBalances(database, merchant.merchant_id);
  const amounts = [collection, payout].map((cents) => formatAmount(cents ?? 0));
  say(`  wallets    collection ${amounts[0]} KES, payout ${amounts[1]} KES`);
}

async function within<Result>(promise: Promise<Result>, problem: string): Promise<Result> {
  const late = sleep(STEP_TIMEOUT_MS, undefined, { ref: false }).then(() => {
    throw new EmbeddedServiceError(problem);
  });
  return Promise.race([promise, late]);
}

function headersOf({ access }: Play) {
  return { authorization: `Bearer ${access}` };
}
