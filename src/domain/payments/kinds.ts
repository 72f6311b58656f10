import type { Payment, PaymentStatus } from './payment.ts';

/** An incoming payment: a customer is prompted on the phone and pays a merchant. */
export interface Collection extends Payment {
  kind: 'collection';
  app_code: number;
  payfrom: string;
  /** Computed once, at acceptance. Later bookings copy it. */
  commission_cents: number;
  ref_no: string;
  account_number: string;
  callback_url: string;
  category: string;
}

export const PAYOUT_CATEGORIES = [
  'ecommerce',
  'gaming',
  'adult_content',
  'forex',
  'other',
] as const;
export type PayoutCategory = (typeof PAYOUT_CATEGORIES)[number];

/** An outgoing payment: from a merchant's payout wallet to a phone or a bank account. */
export interface Payout extends Payment {
  kind: 'payout';
  app_code: number;
  /** The recipient's phone (E.164) or bank account number. */
  payto: string;
  /** Computed once, at acceptance. Debited with the amount and returned with it. */
  fee_cents: number;
  ref_no: string;
  category: PayoutCategory;
  narration: string;
  callback_url: string;
  /** The time at which the money of a failed payout went back into the payout wallet. */
  refund_posted_at: Date | null;
  /** The time at which support took it out again, because the payout had arrived after all. */
  redebited_at: Date | null;
}

/** Returns amount and fee, in cents: the debit of the payout wallet. */
export function costOf(payout: Pick<Payout, 'amount_cents' | 'fee_cents'>): number {
  return payout.amount_cents + payout.fee_cents;
}

/** Tells whether a payout failed and its refund is not posted. Until then a success completes it. */
export function awaitsRefund(payout: Pick<Payout, 'status' | 'refund_posted_at'>): boolean {
  return payout.status === 'failed' && payout.refund_posted_at === null;
}

/**
 * Returns a payout as its merchant may see it. A failure is not told before its refund is
 * posted: the payout may still complete, and a merchant that pays again would pay twice.
 */
export function asShown(payout: Payout): Payout {
  if (!awaitsRefund(payout)) return payout;
  return { ...payout, status: 'processing', result_code: null, result_description: null };
}

/** A refund of a whole completed collection to its customer. */
export interface Reversal extends Payment {
  kind: 'reversal';
  app_code: number;
  collection_id: string;
  /** The collection's own reference. */
  checkout_ref_no: string;
  /** The gateway's receipt of the collection. The reversal cannot go before it is known. */
  original_trans_id: string | null;
  /** The phone that paid and is paid back, E.164. */
  account: string;
  /** The collection's commission. The merchant gets it back with the reversal. */
  commission_cents: number;
  ref_no: string;
  reason: string | null;
  callback_url: string;
}

/** The API's names and codes of a reversal's states. */
export const REVERSAL_STATES: Readonly<Record<PaymentStatus, { code: number; label: string }>> = {
  pending: { code: 0, label: 'unprocessed' },
  processing: { code: 1, label: 'processed' },
  failed: { code: 2, label: 'failed' },
  completed: { code: 3, label: 'reversed' },
};

/** Returns the net that the collection wallet is credited with, or gives back, in cents. */
export function netOf(payment: Pick<Collection, 'amount_cents' | 'commission_cents'>): number {
  return payment.amount_cents - payment.commission_cents;
}

/**
 * Money of a collection that succeeded after its failure was recorded, on its way back to the
 * customer. No merchant asked for it, so it has no webhook and touches no wallet.
 */
export interface Return extends Payment {
  kind: 'return';
  collection_id: string;
  movement_id: string;
  /** The gateway's receipt of the money that goes back, if it gave one. */
  original_trans_id: string | null;
  /** The phone that paid and is paid back, E.164. */
  account: string;
}
