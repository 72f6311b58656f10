import { type Database, rows } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import { PAYMENT_KINDS } from '../payments/payment-summary.ts';
import { MAY_HAVE_ARRIVED } from '../submission/attempts.ts';
import { CHARGED_MONEY } from './charged-money.ts';

/** Payments on their way through a gateway, by kind and age. Amounts are cents. */
export interface InFlight {
  gateway: string;
  kind: GatewayPaymentKind;
  age: Age;
  count: number;
  amount_cents: number;
}

/** The ages by which payments on their way are counted, each with its upper bound. */
const AGES = {
  'up to 5 minutes': '5 minutes',
  'up to an hour': '1 hour',
  'up to a day': '1 day',
  older: '1000 years',
} as const;
type Age = keyof typeof AGES;

/**
 * SQL: the open payments of a kind that the gateway may have, of all merchants: they move the
 * operator's money.
 */
function underWay(kind: GatewayPaymentKind): string {
  return `SELECT '${kind}' AS kind, p.gateway, p.merchant_id, p.id, p.amount_cents, p.created_at
    FROM ${STEP_TABLES[kind].table} p
    WHERE p.status IN ('pending', 'processing') AND EXISTS (SELECT FROM attempts a
      WHERE a.merchant_id = p.merchant_id AND a.payment_kind = '${kind}' AND a.payment_id = p.id
        AND ${MAY_HAVE_ARRIVED})`;
}

/** SQL: the payments of all kinds that gateways may have. */
export const UNDER_WAY = PAYMENT_KINDS.map(underWay).join(' UNION ALL ');

/** SQL: the most that customers' payments on their way may bring to `:gateway`, in cents. */
export function mayCome(): string {
  return sumOf(underWay('collection'));
}

/** SQL: the most that payments on their way may take from `:gateway`, in cents. */
export function mayGo(): string {
  const outgoing = PAYMENT_KINDS.filter((kind) => kind !== 'collection');
  return sumOf(outgoing.map(underWay).join(' UNION ALL '));
}

/** The dispatcher books the charges of a movement well within this time after it learns of the movement. */
const CHARGED_WITHIN = '1 hour';
/** A file lists a payment that support has completed within this time, also over Easter. The payment is charged then. */
const LISTED_WITHIN = '5 days';

/**
 * SQL: the most that charges which are not booked yet may take from `:gateway`, in cents: the charges of payments that it
 * may have, and of money that it has moved since the last run, and the charges that its answers have told.
 * `:largest` is JSON: the largest charge of each kind of payment.
 */
export function mayCost(): string {
  return `SELECT coalesce(sum(largest.cents), 0) + (
      SELECT coalesce(sum(greatest(heard_cents - coalesce(told_cents, booked_cents, 0), 0)), 0)
      FROM charges WHERE gateway = :gateway AND heard_cents IS NOT NULL)
    FROM jsonb_to_recordset(CAST(:largest AS jsonb)) AS largest (kind text, cents bigint) JOIN (
      SELECT kind, gateway FROM (${UNDER_WAY}) p
      UNION ALL SELECT m.payment_kind, m.gateway FROM (
        SELECT * FROM ${CHARGED_MONEY} recent WHERE learned_at > now() - interval '${CHARGED_WITHIN}'
        UNION SELECT * FROM ${CHARGED_MONEY} unlisted WHERE gateway = :gateway AND told_by = 'support'
          AND learned_at > now() - interval '${LISTED_WITHIN}') m
      WHERE m.booked <> 'undone' AND NOT EXISTS (SELECT FROM charges c
          WHERE c.merchant_id = m.merchant_id AND c.movement_id = m.id)) due USING (kind)
    WHERE due.gateway = :gateway`;
}

/** SQL: the most that answers which are not booked yet may give back to `:gateway` of its booked charges, in cents. */
export function mayGiveBack(): string {
  return `SELECT coalesce(sum(greatest(coalesce(told_cents, booked_cents, 0) - heard_cents, 0)), 0)
    FROM charges WHERE gateway = :gateway AND heard_cents IS NOT NULL`;
}

function sumOf(payments: string): string {
  return `SELECT coalesce(sum(amount_cents), 0) FROM (${payments}) p WHERE gateway = :gateway`;
}

/** Counts what is on its way, by age. */
export function countInFlight(database: Database): Promise<InFlight[]> {
  const ages = Object.entries(AGES).map(
    ([age, bound]) => `WHEN created_at > now() - interval '${bound}' THEN '${age}'`,
  );
  return rows<InFlight>(
    database,
    `SELECT gateway, kind, age, count(*) AS count, CAST(sum(amount_cents) AS bigint) AS amount_cents
     FROM (SELECT *, CASE ${ages.join(' ')} END AS age FROM (${UNDER_WAY}) p) aged
     GROUP BY gateway, kind, age ORDER BY gateway, kind, min(created_at)`,
  );
}
