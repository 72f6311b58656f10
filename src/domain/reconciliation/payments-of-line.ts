import { validate as isUuid } from 'uuid';
import { rows, type Transaction } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import type { PaymentRef } from '../payments/payment-store.ts';
import { PAYMENTS_OF_LINES, type StoredLine } from './statement.ts';

/** Bounds what a person has to look at. */
const MAX_CANDIDATES = 10;

/**
 * Finds the payments that a line may be about: by our reference, by the gateway's reference, and
 * by a receipt that is booked and not undone. It tries all three, because they may disagree.
 */
export async function candidatesOf(
  trx: Transaction,
  gateway: string,
  { kind, reference, trans_id }: Pick<StoredLine, 'kind' | 'reference' | 'trans_id'>,
): Promise<PaymentRef[]> {
  const lookups = PAYMENTS_OF_LINES[kind].flatMap((each) => [
    paymentsOf(each, 'reference = CAST(:uuid AS uuid)'),
    paymentsOf(each, 'external_ref = :reference'),
  ]);
  return rows<PaymentRef>(
    trx,
    `${lookups.join(' UNION ')}
     UNION SELECT payment_kind, merchant_id, payment_id FROM movements
       WHERE trans_id = :trans_id AND gateway = :gateway AND booked <> 'undone'
         AND ${isSameDirection('payment_kind', ':kind')}
     ORDER BY merchant_id, id LIMIT :limit`,
    {
      ...{ gateway, kind, reference, trans_id, limit: MAX_CANDIDATES },
      uuid: reference !== null && isUuid(reference) ? reference : null,
    },
  );
}

function paymentsOf(kind: GatewayPaymentKind, condition: string): string {
  return `SELECT '${kind}' AS kind, merchant_id, id FROM ${STEP_TABLES[kind].table}
    WHERE gateway = :gateway AND ${condition}`;
}

/**
 * Returns a condition on the kinds of two movements: both came in, or both went out. A gateway may
 * use a receipt once in each direction.
 */
export function isSameDirection(kind: string, other: string): string {
  return `(${kind} = 'collection') = (${other} = 'collection')`;
}
