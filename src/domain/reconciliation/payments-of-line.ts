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

/** The customer pays within this time of the request. Clocks may differ by as much. */
const PAID_WITHIN = { before_minutes: 30, after_minutes: 5 };

/**
 * Finds the collections that a line without a reference may be about: asked of the same phone, for
 * the same amount, not long before, and without a receipt so far. A failed one is among them, and
 * is marked: its customer may have paid by hand afterwards, for something else. A gateway that keeps no
 * reference of ours tells no more when both its acknowledgement and its callback were lost.
 */
export async function collectionsLike(
  trx: Transaction,
  gateway: string,
  { account, amount_cents, completed_at }: StoredLine,
): Promise<(PaymentRef & { has_failed: boolean })[]> {
  return rows<PaymentRef & { has_failed: boolean }>(
    trx,
    `SELECT 'collection' AS kind, c.merchant_id, c.id, c.status = 'failed' AS has_failed
     FROM merchants JOIN collections c ON c.merchant_id = merchants.id
       AND c.payfrom = :account
       AND c.created_at > CAST(:completed_at AS timestamptz) - :before_minutes * interval '1 minute'
       AND c.created_at < CAST(:completed_at AS timestamptz) + :after_minutes * interval '1 minute'
     WHERE c.gateway = :gateway AND c.amount_cents = :amount_cents AND c.undone_at IS NULL
       AND NOT EXISTS (SELECT FROM movements m WHERE m.merchant_id = c.merchant_id
         AND m.payment_kind = 'collection' AND m.payment_id = c.id AND m.trans_id IS NOT NULL)
       AND EXISTS (SELECT FROM attempts a WHERE a.merchant_id = c.merchant_id
         AND a.payment_kind = 'collection' AND a.payment_id = c.id)
     ORDER BY c.merchant_id, c.id LIMIT :limit`,
    { ...PAID_WITHIN, gateway, account, amount_cents, completed_at, limit: MAX_CANDIDATES },
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
