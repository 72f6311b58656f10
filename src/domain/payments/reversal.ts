import type { Payment, PaymentStatus } from './payment.ts';

/** A completed collection that its merchant gives back to the customer, in full. */
export interface Reversal extends Payment {
  kind: 'reversal';
  app_code: number;
  collection_id: string;
  /** The collection's own reference. */
  checkout_ref_no: string;
  /** The gateway's receipt of the collection; the reversal is not sent before it is known. */
  original_trans_id: string | null;
  /** The phone that paid and is paid back, E.164. */
  account: string;
  /** Of the collection; the merchant gets it back with the reversal. */
  commission_cents: number;
  ref_no: string;
  reason: string | null;
  callback_url: string;
}

/** What the API calls the states of a reversal. */
export const REVERSAL_STATES: Readonly<Record<PaymentStatus, { code: number; label: string }>> = {
  pending: { code: 0, label: 'unprocessed' },
  processing: { code: 1, label: 'processed' },
  failed: { code: 2, label: 'failed' },
  completed: { code: 3, label: 'reversed' },
};

/** What the collection wallet gives: the net that it was credited, in cents. */
export function netOf(reversal: Pick<Reversal, 'amount_cents' | 'commission_cents'>): number {
  return reversal.amount_cents - reversal.commission_cents;
}
