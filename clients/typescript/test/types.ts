import type { MalipoClient, WebhookEvent } from '../src/index.ts';

/**
 * What the types of the client allow and what they refuse. Nothing runs: `npm run typecheck`
 * fails when a line that is marked as wrong is taken.
 */
export async function typesOfCalls(client: MalipoClient): Promise<void> {
  const channels = await client.get('/channels');
  channels.results[0]?.code satisfies number | undefined;
  const { status } = await client.get('/payouts/{payout_id}', {
    params: { path: { payout_id: 'id' } },
  });
  status satisfies 'pending' | 'processing' | 'completed' | 'failed';
  const query = { page_size: 2, status: 'completed', date_from: '2026-11-01' } as const;
  for await (const item of client.paginate('/payouts', { params: { query } })) {
    item.fee satisfies string;
  }
  const payout = {
    payto: '+254712345678',
    amount: '1.00',
    ref_no: 'a',
    callback_url: 'https://b',
    app_code: 5001,
  };
  const header = { 'Idempotency-Key': 'mine' };
  await client.post('/payouts/initiate', { body: payout, params: { header } });
  const named = await client.initiatePayout({ body: payout, params: { header } });
  named.id satisfies string;
  (await client.getBalance()).payout_wallet_balance satisfies string;

  // @ts-expect-error A body is required.
  await client.initiatePayout();
  // @ts-expect-error There is no such operation.
  client.initiateNothing;
  // @ts-expect-error There is no such path.
  await client.get('/nothing');
  // @ts-expect-error It is not an operation of this method.
  await client.get('/payouts/initiate');
  // @ts-expect-error A body is required.
  await client.post('/payouts/initiate');
  // @ts-expect-error So is every field that has no default.
  await client.post('/payouts/initiate', { body: { ...payout, amount: undefined } });
  // @ts-expect-error Also the app.
  await client.post('/payouts/initiate', { body: { ...payout, app_code: undefined } });
  // @ts-expect-error An amount is text.
  await client.post('/payouts/initiate', { body: { ...payout, amount: 1 } });
  // @ts-expect-error A path's parameter is required.
  await client.get('/payouts/{payout_id}');
  // @ts-expect-error There is no such category.
  await client.post('/payouts/initiate', { body: { ...payout, category: 'rent' } });
  // @ts-expect-error The operation takes no key.
  await client.post('/auth/logout', { params: { header } });
  // @ts-expect-error It is no list.
  client.paginate('/wallets/balance');
}

/** The type of an event tells which fields it has. */
export function typesOfEvents(event: WebhookEvent): string {
  if (event.event === 'webhook.test') {
    event.type satisfies 'test';
    return event.data.ref_no;
  }
  event.type satisfies 'collection' | 'payout' | 'reversal';
  // @ts-expect-error Only reversals have it.
  event.data.checkout_ref_no;
  return event.type === 'reversal' ? event.data.checkout_ref_no : event.data.ref_no;
}
