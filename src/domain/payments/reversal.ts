import type { Payment, PaymentStatus } from './payment.ts';

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

/** Returns the net that the collection wallet was credited with and gives back, in cents. */
export function netOf(reversal: Pick<Reversal, 'amount_cents' | 'commission_cents'>): number {
  return reversal.amount_cents - reversal.commission_cents;
}
