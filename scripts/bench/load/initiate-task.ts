import { type BenchMerchant, tokenOf } from '../merchants.ts';
import { assertOk, bearer, createHttpClient } from './http-client.ts';
import type { InitiateWork, MixedPayment } from './order.ts';
import type { Task } from './work.ts';

const AMOUNT = '250.00';
const PHONES_COUNT = 10_000;
const ACCOUNT_NUMBER = 'INV-7';
/** Well before a token ends. */
const TOKEN_USE_MS = 10 * 60_000;

/** What the servers of some merchants send: every request another payment, of each in turn. */
export function initiateTask(work: InitiateWork, connections: number): Task {
  const { baseUrl, merchants, tag } = work;
  const client = createHttpClient(connections);
  const tokens = createTokens(baseUrl);
  return {
    run: async (index) => {
      const merchant = merchants[index % merchants.length]!;
      const payment = paymentAt(index, work);
      const { path, fields } = requestOf(payment, phoneOf(index, payment.ending), merchant);
      const refNo = `${tag}-${index}`;
      const headers = { ...bearer(await tokens(merchant)), 'idempotency-key': refNo };
      const json = { ...fields, amount: AMOUNT, ref_no: refNo, callback_url: work.callbackUrl };
      assertOk(await client.send(`${baseUrl}${path}`, { headers, json }));
    },
    close: async () => client.close(),
  };
}

/** What is sent at an index: every merchant gets each payment of the mix in turn. */
export function paymentAt(
  index: number,
  { merchants, mix }: Pick<InitiateWork, 'merchants' | 'mix'>,
): MixedPayment {
  return mix[Math.floor(index / merchants.length) % mix.length]!;
}

function requestOf({ kind }: MixedPayment, phone: string, { app_code }: BenchMerchant) {
  return kind === 'collection'
    ? {
        path: '/collections/checkouts/initiate',
        fields: { payfrom: phone, account_number: ACCOUNT_NUMBER },
      }
    : { path: '/payouts/initiate', fields: { payto: phone, app_code } };
}

/** Each merchant logs in when it first sends something, and again before its token ends. */
function createTokens(baseUrl: string) {
  const tokens = new Map<number, { access: Promise<string>; until: number }>();
  return (merchant: BenchMerchant): Promise<string> => {
    let token = tokens.get(merchant.merchant_id);
    if (!token || token.until < Date.now()) {
      token = { access: tokenOf(baseUrl, merchant), until: Date.now() + TOKEN_USE_MS };
      tokens.set(merchant.merchant_id, token);
    }
    return token.access;
  };
}

function phoneOf(index: number, ending: string): string {
  return `+25471${String(index % PHONES_COUNT).padStart(4, '0')}${ending}`;
}
