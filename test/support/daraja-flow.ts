import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { topUpPayoutWallet } from '../../scripts/sandbox/top-up.ts';
import { firstRow } from '../../src/connections/database.ts';
import { type AnyPayment, findPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { submitStep } from '../../src/domain/payments/schedule.ts';
import { changeStep } from '../../src/jobs/outbox.ts';
import { type Answer, collectionBody, payoutBody, request, reversalBody } from './api-client.ts';
import { receiptsAt } from './daraja-under-test.ts';
import { eventually } from './eventually.ts';
import type { FakeMerchant } from './fake-merchant.ts';
import { oneWebhook } from './flow-checks.ts';
import { discrepanciesOf } from './payments.ts';
import { storyOf } from './story-of.ts';
import { createTestMerchant, type TestMerchant } from './test-merchant.ts';
import type { TestService } from './test-service.ts';

/** Payments that go from a merchant's request through Daraja to the merchant's webhook. */

/** A step that is due by then needs no hurry. */
const SOON_MS = 1_000;
export const TOP_UP_CENTS = 1_000_00;
const PATHS = {
  collection: '/collections/checkouts/initiate',
  payout: '/payouts/initiate',
  reversal: '/reversals/initiate',
} as const;
export type FlowKind = keyof typeof PATHS;

/** A payment as its merchant knows it. */
export interface Initiated {
  kind: FlowKind;
  merchant: TestMerchant;
  phone: string;
  id: string;
  ref_no: string;
}

/** The phone of a kind's payments that play a part. Each has one payment of the kind. */
export const phoneOf = (kind: FlowKind, part: string): string =>
  `+25471${{ collection: '0001', payout: '0002', reversal: '0003' }[kind]}${part}`;

/** The merchant's side of these payments, and what support sees of them. */
export function darajaFlow(service: TestService, shop: FakeMerchant) {
  const { database } = service;

  async function post(kind: FlowKind, merchant: TestMerchant, body: object): Promise<Answer> {
    const { access } = merchant;
    return request('POST', `${service.baseUrl}${PATHS[kind]}`, { access, body });
  }

  async function accepted(kind: FlowKind, merchant: TestMerchant, phone: string, body: object) {
    const answer = await post(kind, merchant, { ...body, callback_url: shop.url });
    // A reversal that is not taken in time goes on all the same.
    const isTaken = answer.status === 200 || (kind === 'reversal' && answer.status === 502);
    expect(isTaken, JSON.stringify(answer.body)).to.equal(true);
    const { ref_no } = body as { ref_no: string };
    const { id } = (await firstRow<{ id: string }>(
      database,
      `SELECT id FROM ${kind}s WHERE merchant_id = :merchant_id AND ref_no = :ref_no`,
      { merchant_id: merchant.merchant_id, ref_no },
    ))!;
    return { kind, merchant, phone, id, ref_no };
  }

  async function initiate(
    kind: Exclude<FlowKind, 'reversal'>,
    phone: string,
    fields: object = {},
  ): Promise<Initiated> {
    const merchant = await createTestMerchant(service);
    if (kind === 'collection') {
      return accepted(kind, merchant, phone, collectionBody({ payfrom: phone, ...fields }));
    }
    await topUpPayoutWallet(database, merchant.merchant_id, TOP_UP_CENTS, `for-${phone}`);
    return accepted(kind, merchant, phone, payoutBody(merchant, { payto: phone, ...fields }));
  }

  async function giveBack({ merchant, phone, ref_no }: Initiated): Promise<Initiated> {
    return accepted('reversal', merchant, phone, reversalBody(ref_no));
  }

  async function current({ kind, merchant, id }: Pick<Initiated, 'kind' | 'merchant' | 'id'>) {
    const payment = await findPayment(database, { kind, merchant_id: merchant.merchant_id, id });
    return payment as AnyPayment & { refund_posted_at?: Date | null };
  }

  /** Lets a submission that waits go now, under a new job: its old one may be in a queue. */
  async function hurry(payment: Initiated): Promise<void> {
    const now = await current(payment);
    const waits = now.next_step === 'submit' && now.next_step_at!.getTime() > Date.now() + SOON_MS;
    if (waits) await changeStep(database, refOf(now), submitStep(now));
  }

  function ended(payment: Initiated) {
    const end = eventually(`the end of ${payment.kind} ${payment.phone}`, async () => {
      const now = await current(payment);
      await hurry(payment);
      const isRefunded = payment.kind !== 'payout' || now.refund_posted_at !== null;
      return (now.status === 'completed' || (now.status === 'failed' && isRefunded)) && now;
    });
    return end.catch(async (error: Error) => {
      throw new Error(
        `${error.message}: ${await storyOf(database, refOf(await current(payment)))}`,
      );
    });
  }

  /** Expects the one webhook, signed with the app's secret, and returns what it says. */
  async function signedWebhook(payment: Initiated) {
    const payload = await oneWebhook(service, shop, payment);
    for (const { headers, body } of shop.webhooksFor(payment.ref_no)) {
      const material = `${headers['x-service-timestamp']}.${body}`;
      const signature = createHmac('sha256', payment.merchant.app_secret).update(material);
      expect(headers['x-service-signature']).to.equal(signature.digest('hex'));
    }
    return payload;
  }

  return {
    ...{ initiate, giveBack, current, hurry, ended, signedWebhook },
    receipts: ({ kind, phone }: Initiated) =>
      receiptsAt(service.darajaUrl!, { kind, account: phone }),
    findings: ({ id }: Initiated) => discrepanciesOf(database, id),
    /** Waits until support sees these findings about a payment. */
    found: ({ id, phone }: Initiated, ...kinds: string[]) =>
      eventually(`${kinds} about ${phone}`, async () => {
        const found = await discrepanciesOf(database, id);
        return kinds.every((kind) => found.includes(kind));
      }),
  };
}

export type DarajaFlow = ReturnType<typeof darajaFlow>;
