/** Money that a gateway says it moved for a payment. The service books each once, when it learns of it. */
export interface Movement {
  id: string;
  trans_id: string | null;
  amount_cents: number;
  account: string | null;
  completed_at: Date | null;
  /** Booked as the payment's own, waiting in suspense for a decision, or cleared by one. */
  booked: 'settled' | 'suspense' | 'cleared';
}
