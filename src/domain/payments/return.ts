import type { Payment } from './payment.ts';

/**
 * Money of a collection that succeeded after its failure was recorded, on its way back to
 * the customer. Our own doing, not a merchant's reversal: no webhook, no wallet.
 */
export interface Return extends Payment {
  kind: 'return';
  collection_id: string;
  movement_id: string;
  /** The gateway's receipt of the money that goes back, where it gave one. */
  original_trans_id: string | null;
  /** The phone that paid and is paid back, E.164. */
  account: string;
}
