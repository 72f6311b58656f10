import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { request } from './api-client.ts';
import { eventually } from './eventually.ts';
import type { FakeMerchant, Received } from './fake-merchant.ts';
import type { TestService } from './test-service.ts';

/** A movement as the simulator's statement lists it. */
export interface StatementLine {
  reference: string;
  kind: string;
  account: string;
  amount: string;
  trans_id: string;
}

/** What the simulator has moved under the reference of one of our payments. */
export async function statementOf(
  { database, simulatorUrl }: TestService,
  paymentId: string,
): Promise<StatementLine[]> {
  const tables = ['collections', 'payouts', 'reversals', 'returns'];
  const [{ reference }] = (await rows(
    database,
    tables
      .map((table) => `SELECT reference FROM ${table} WHERE id = :paymentId`)
      .join(' UNION ALL '),
    { paymentId },
  )) as [{ reference: string }];
  const { body } = await request('GET', `${simulatorUrl}/statement?reference=${reference}`);
  return body;
}

/**
 * Waits for the one webhook of a payment. Fails when there is more than one event of it,
 * or when deliveries of it differ.
 */
export async function oneWebhook(
  { database }: TestService,
  shop: FakeMerchant,
  payment: { id: string; ref_no: string },
): Promise<Received['payload']> {
  const webhooks = await eventually('the webhook', async () => {
    const received = shop.webhooksFor(payment.ref_no);
    return received.length > 0 && received;
  });
  const ids = new Set(webhooks.map(({ headers }) => headers['webhook-id']));
  const events = await rows<{ id: string }>(
    database,
    'SELECT id FROM events WHERE payment_id = :id',
    { id: payment.id },
  );
  expect([...ids]).to.deep.equal(events.map(({ id }) => id));
  return webhooks[0]!.payload;
}
