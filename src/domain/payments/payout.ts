import type { Payment } from './payment.ts';

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
