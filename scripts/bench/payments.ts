import type { Database } from '../../src/connections/database.ts';
import { NOBODY } from '../../src/domain/access/asker.ts';
import { createCollection } from '../../src/domain/collections/create-collection.ts';
import { issueAppTokens } from '../../src/domain/credentials/log-in.ts';
import { createApp } from '../../src/domain/merchants/app.ts';
import { createMerchant } from '../../src/domain/merchants/merchant.ts';
import { createPayout } from '../../src/domain/payouts/create-payout.ts';
import { topUpPayoutWallet } from '../sandbox/top-up.ts';
import type { Stage } from './stage.ts';

const FULL_WALLET_CENTS = 100_000_000_000;
const TILL = { name: 'Till', products: ['collections' as const, 'payouts' as const] };
/** Last digits of phones, by which the simulator decides how a payment ends. */
const SUCCEEDS = '678';
export const DECLINED = '001';
/** Seven simply succeed; one is called back twice, one is polled, one is declined. */
export const MIXED_ENDINGS = [...Array<string>(7).fill(SUCCEEDS), '102', '101', DECLINED];
/** Well before a token ends. */
const TOKEN_USE_MS = 10 * 60_000;
const PHONES_COUNT = 10_000;
/** The fields that all payments share. The channel is M-Pesa. */
const COMMON = {
  ...NOBODY,
  amount_cents: 25_000,
  account_number: 'INV-7',
  category: 'other' as const,
  narration: '',
  channel: 63_902,
  gateway: 'simulator',
  deadline_ms: 600_000,
  rate: { bps: 150, fixedCents: 0 },
};

export interface BenchMerchant {
  merchant_id: number;
  app_code: number;
  /** Its access token, which a timer renews. */
  access: string;
}

/** Makes merchants with one app each, and so much in the payout wallet that none is refused. */
export async function createMerchants({ database, config, stops }: Stage, count: number) {
  const merchants: BenchMerchant[] = [];
  for (let number = 1; number <= count; number += 1) {
    const name = `duka${number}`;
    const contact = { email: `${name}@bench.example`, phone_number: '+254711000000' };
    const merchant_id = await createMerchant(database, { name, ...contact, approved: true });
    const app = await createApp(database, config.secretsKeys, merchant_id, TILL);
    await topUpPayoutWallet(database, merchant_id, FULL_WALLET_CENTS, 'bench-opening');
    const merchant: BenchMerchant = { merchant_id, app_code: app.app_code, access: '' };
    const logIn = async () => Object.assign(merchant, await issueAppTokens(database, config, app));
    await logIn();
    const timer = setInterval(logIn, TOKEN_USE_MS);
    stops.push(async () => clearInterval(timer));
    merchants.push(merchant);
  }
  return merchants;
}

/** Says which payments are made. Their references are `tag-0`, `tag-1` and so on. */
export interface Mix {
  tag: string;
  merchants: readonly BenchMerchant[];
  kinds?: readonly ('collection' | 'payout')[];
  /** By default all succeed. */
  endings?: readonly string[];
  /** By default nobody listens there: no worker runs. */
  callback_url?: string;
}

export type BenchPayment = ReturnType<typeof paymentAt>;

/** Makes the payment of a number. Every merchant gets each ending of each kind in turn. */
export function paymentAt(index: number, mix: Mix) {
  const { tag, merchants, kinds = ['collection', 'payout'], endings = [SUCCEEDS] } = mix;
  const { callback_url = 'http://127.0.0.1:9/webhooks' } = mix;
  const turn = Math.floor(index / merchants.length);
  const ending = endings[Math.floor(turn / kinds.length) % endings.length]!;
  const phone = `+25471${String(index % PHONES_COUNT).padStart(4, '0')}${ending}`;
  const [ref_no, kind] = [`${tag}-${index}`, kinds[turn % kinds.length]!];
  const merchant = merchants[index % merchants.length]!;
  return { ...COMMON, ...merchant, kind, payfrom: phone, payto: phone, ref_no, callback_url };
}

/** Records a payment by the statement with which the service does it, and nothing around it. */
export function recordPayment(database: Database, payment: BenchPayment): Promise<unknown> {
  return (payment.kind === 'payout' ? createPayout : createCollection)(database, payment);
}

/** Writes a merchant's request for a payment. */
export function initiateRequest(payment: BenchPayment, isKeyed = true) {
  const { kind, payfrom, payto, account_number, app_code, ref_no, callback_url, access } = payment;
  const side = kind === 'collection' ? { payfrom, account_number } : { payto, app_code };
  const amount = (COMMON.amount_cents / 100).toFixed(2);
  return {
    method: 'POST' as const,
    headers: {
      authorization: `Bearer ${access}`,
      'content-type': 'application/json',
      ...(isKeyed && { 'idempotency-key': ref_no }),
    },
    body: JSON.stringify({ ...side, amount, ref_no, callback_url }),
  };
}
