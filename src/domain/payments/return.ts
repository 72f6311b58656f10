import type { Payment } from './payment.ts';

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
