import type { GatewayPaymentKind } from '../gateway-results.ts';

/**
 * Returns the CTE `remembered`, which adds the move of the row of the CTE `moved` to its
 * payment's history. No other SQL writes history.
 * @param from and `cause` are SQL: the status before, and who or what moved it.
 */
export function remembered(kind: GatewayPaymentKind, from: string, cause: string): string {
  return `remembered AS (
    INSERT INTO payment_history
      (merchant_id, payment_kind, payment_id, from_status, to_status, cause)
    SELECT merchant_id, '${kind}', id, ${from}, status, ${cause} FROM moved
  )`;
}
