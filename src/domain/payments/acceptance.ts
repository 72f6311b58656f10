import { queued } from '../../jobs/outbox.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import { remembered } from './history.ts';
import { paymentColumns } from './payment-summary.ts';

/**
 * Returns the statement that accepts a payment: it inserts the row, its history and its first
 * job (in `:queue`) at once, so nothing can forget an accepted payment.
 * @param insert is the INSERT without RETURNING.
 * @param more is further CTEs. They read the new row from the CTE `moved`.
 * @param cause is SQL: who asked for the payment.
 */
export function acceptance(
  kind: GatewayPaymentKind,
  insert: string,
  more: readonly string[] = [],
  cause = `'api'`,
): string {
  const parts = [
    `moved AS (${insert} RETURNING *)`,
    queued(kind),
    remembered(kind, 'NULL', cause),
    ...more,
  ];
  return `WITH ${parts.join(', ')} SELECT ${paymentColumns(kind, 'moved')} FROM moved`;
}
