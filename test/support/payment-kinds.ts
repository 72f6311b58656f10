import { topUpPayoutWallet } from '../../scripts/sandbox/top-up.ts';
import type { Database } from '../../src/connections/database.ts';
import { NOBODY } from '../../src/domain/access/asker.ts';
import type { GatewayPaymentKind } from '../../src/domain/gateway-results.ts';
import {
  type Collection,
  costOf,
  type Payout,
  type Reversal,
} from '../../src/domain/payments/kinds.ts';
import type { AnyPayment } from '../../src/domain/payments/payment-store.ts';
import { createPayout, type NewPayout } from '../../src/domain/payouts/create-payout.ts';
import { createReversal, type NewReversal } from '../../src/domain/reversals/create-reversal.ts';
import { AMOUNT_CENTS, learn, newCollection, newReturn, PAYER, succeeded } from './payments.ts';
import type { TestMerchant } from './test-merchant.ts';

/** The payments of every kind, as they were just accepted. */

type Owner = Pick<TestMerchant, 'merchant_id' | 'app_code'>;

export const PAYMENT_KINDS = ['collection', 'payout', 'reversal', 'return'] as const;

/** Where the submissions of each kind wait. */
export const SUBMISSION_QUEUE: Readonly<Record<GatewayPaymentKind, string>> = {
  collection: 'submission-simulator',
  payout: 'submission-simulator',
  reversal: 'reversals-simulator',
  return: 'returns-simulator',
};

/** What is left to do for one of them that has failed. */
export const STEP_AFTER_FAILURE: Readonly<Record<GatewayPaymentKind, string | null>> = {
  collection: null,
  payout: 'refund',
  reversal: null,
  return: null,
};

/** One of a kind, of 100.00, whose other side is PAYER. */
export function newPayment(
  kind: GatewayPaymentKind,
  database: Database,
  merchant: Owner,
): Promise<AnyPayment> {
  switch (kind) {
    case 'collection':
      return newCollection(database, merchant);
    case 'payout':
      return newPayout(database, merchant);
    case 'reversal':
      return newReversal(database, merchant);
    case 'return':
      return newReturn(database, merchant);
  }
}

export const PAYOUT_FEE_CENTS = 250;

let count = 0;

/** A request for a payout of 100.00 with a fee of 2.50. */
export function payoutRequest(merchant: Owner, overrides: Partial<NewPayout> = {}): NewPayout {
  count += 1;
  return {
    merchant_id: merchant.merchant_id,
    app_code: merchant.app_code,
    ...NOBODY,
    asked_app: merchant.app_code,
    payto: PAYER,
    amount_cents: AMOUNT_CENTS,
    ref_no: `out-${count}`,
    category: 'other',
    narration: 'Disbursement',
    callback_url: 'http://127.0.0.1:9/hook',
    channel: 63902,
    gateway: 'simulator',
    rate: { bps: 0, fixedCents: PAYOUT_FEE_CENTS },
    deadline_ms: 4 * 3_600_000,
    ...overrides,
  };
}

/** A payout that was just accepted, from a wallet that was given exactly what it costs. */
export async function newPayout(
  database: Database,
  merchant: Owner,
  overrides: Partial<NewPayout> = {},
): Promise<Payout> {
  const request = payoutRequest(merchant, overrides);
  const cost = costOf({ amount_cents: request.amount_cents, fee_cents: PAYOUT_FEE_CENTS });
  await topUpPayoutWallet(database, merchant.merchant_id, cost, `for-${request.ref_no}`);
  return createPayout(database, request);
}

/** A collection of 100.00 whose net of 98.50 is in the wallet. */
export async function newCompletedCollection(
  database: Database,
  merchant: Owner,
  receipt: string | null = 'RCPT1',
): Promise<Collection> {
  const collection = await newCollection(database, merchant);
  await learn(database, collection, succeeded({ transId: receipt }));
  return collection;
}

/** A request to give a collection back. */
export function reversalRequest(
  { merchant_id, app_code, ref_no: checkoutRefNo }: Collection,
  overrides: Partial<NewReversal> = {},
): NewReversal {
  count += 1;
  return {
    merchant_id,
    app_code: null,
    ...NOBODY,
    asked_app: app_code,
    named_app: null,
    checkout_ref_no: checkoutRefNo,
    amount_cents: null,
    ref_no: `back-${count}`,
    reason: 'Out of stock',
    callback_url: 'http://127.0.0.1:9/hook',
    ...overrides,
  };
}

/** A reversal that was just accepted, of a collection of its own. */
export async function newReversal(
  database: Database,
  merchant: Owner,
  receipt: string | null = 'RCPT1',
): Promise<Reversal> {
  const collection = await newCompletedCollection(database, merchant, receipt);
  return createReversal(database, reversalRequest(collection));
}
