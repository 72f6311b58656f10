import { got } from 'got';
import { type MerchantReceiver, startMerchantReceiver } from './merchant-receiver.ts';
import { type Play, playScene, type Scene } from './scene.ts';

/** Behaves normally: the simulator has no special behaviour for its last digits. */
const CUSTOMER = '+254712345678';
/** The simulator declines phones that end in 001. */
const REFUSED = '+254712345001';

/** In order: the reversal needs the collection. */
const SCENES: readonly Scene[] = [
  {
    title: 'A collection that the customer pays',
    kind: 'collection',
    refNo: 'demo-paid',
    account: CUSTOMER,
    expected: 'completed',
  },
  {
    title: 'A collection that is declined (phones ending in 001 have no money)',
    kind: 'collection',
    refNo: 'demo-declined',
    account: REFUSED,
    expected: 'failed',
  },
  {
    title: 'A payout to a phone',
    kind: 'payout',
    refNo: 'demo-payout',
    account: CUSTOMER,
    expected: 'completed',
  },
  {
    title: 'A payout that is declined: its money comes back before the webhook goes out',
    kind: 'payout',
    refNo: 'demo-refunded',
    account: REFUSED,
    expected: 'failed',
  },
  {
    title: 'The reversal of the collection above',
    kind: 'reversal',
    refNo: 'demo-reversal',
    account: CUSTOMER,
    checkoutRefNo: 'demo-paid',
    expected: 'reversed',
  },
];

/**
 * Plays payments of every kind as a merchant sees them, and prints each step as it happens.
 * @param given hears the webhooks. Default: a receiver on this machine, by HTTP
 * @throws EmbeddedServiceError when a step does not happen, or not as expected.
 */
export async function demonstrate(
  stage: Omit<Play, 'access' | 'receiver'>,
  given?: MerchantReceiver,
): Promise<void> {
  const { merchant, baseUrl, say } = stage;
  const receiver = given ?? (await startMerchantReceiver(merchant.app_secret));
  try {
    const credentials = { app_key: merchant.app_key, app_secret: merchant.app_secret };
    const { access } = await got
      .post(`${baseUrl}/auth/app/token`, { json: credentials, retry: { limit: 0 } })
      .json<{ access: string }>();
    say('Got an access token        POST /auth/app/token');
    for (const scene of SCENES) await playScene({ ...stage, access, receiver }, scene);
  } finally {
    await receiver.close();
  }
}
