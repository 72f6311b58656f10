import { validate as isUuid } from 'uuid';
import { type Database, rows } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import {
  PAYMENT_KINDS,
  type PaymentSummary,
  selectSummaries,
} from '../payments/payment-summary.ts';

export interface PaymentSearch {
  /** A ref_no, a payment's id or reference, a receipt, a gateway's reference or a webhook-id. */
  what: string;
  merchant_id?: number | undefined;
  kind?: GatewayPaymentKind | undefined;
  limit: number;
}

/** Finds the payments of all merchants that fit a search, newest first. */
export async function findPayments(
  database: Database,
  { what, merchant_id, kind, limit }: PaymentSearch,
): Promise<PaymentSummary[]> {
  const hits = [
    ...PAYMENT_KINDS.map((each) => ofAllMerchants(each, 'external_ref = :what')),
    ...WITH_REFERENCE.map((each) => ofEachMerchant(each, 'ref_no = :what')),
    BY_RECEIPT,
    ...(isUuid(what)
      ? [
          ...PAYMENT_KINDS.map((each) => ofEachMerchant(each, 'id = CAST(:what AS uuid)')),
          ...PAYMENT_KINDS.map((each) => ofAllMerchants(each, 'reference = CAST(:what AS uuid)')),
          BY_EVENT,
        ]
      : []),
  ];
  const wanted = PAYMENT_KINDS.filter((each) => kind === undefined || each === kind);
  return rows<PaymentSummary>(
    database,
    `WITH merchant AS MATERIALIZED (
       SELECT id FROM merchants WHERE CAST(:merchant_id AS bigint) IS NULL OR id = :merchant_id
     ), hit (kind, merchant_id, payment_id) AS MATERIALIZED (${hits.join(' UNION ')})
     SELECT * FROM (${wanted.map(summariesOfHits).join(' UNION ALL ')}) AS found
     ORDER BY created_at DESC, id DESC LIMIT :limit`,
    { what, merchant_id: merchant_id ?? null, limit },
  );
}

const WITH_REFERENCE = ['collection', 'payout', 'reversal'] as const;

/*
 * Payments are indexed by merchant first, so each merchant takes one probe of the index.
 * LATERAL with LIMIT keeps the planner from reading the whole table.
 */
function ofEachMerchant(kind: GatewayPaymentKind, condition: string): string {
  return `SELECT '${kind}' AS kind, merchant.id AS merchant_id, one.id AS payment_id
    FROM merchant CROSS JOIN LATERAL (
      SELECT id FROM ${STEP_TABLES[kind].table} WHERE merchant_id = merchant.id AND ${condition} LIMIT 1
    ) AS one`;
}

/** An event's id is the webhook-id of its deliveries. */
const BY_EVENT = `SELECT one.payment_kind, merchant.id, one.payment_id
  FROM merchant CROSS JOIN LATERAL (
    SELECT payment_kind, payment_id FROM events
    WHERE merchant_id = merchant.id AND id = CAST(:what AS uuid) LIMIT 1
  ) AS one`;

/** Receipts and both sides' references have indexes that do not begin with the merchant. */
const BY_RECEIPT = `SELECT payment_kind, merchant_id, payment_id FROM movements
  WHERE trans_id = :what AND merchant_id IN (SELECT id FROM merchant)`;

function ofAllMerchants(kind: GatewayPaymentKind, condition: string): string {
  return `SELECT '${kind}', merchant_id, id FROM ${STEP_TABLES[kind].table}
    WHERE ${condition} AND merchant_id IN (SELECT id FROM merchant)`;
}

function summariesOfHits(kind: GatewayPaymentKind): string {
  return `${selectSummaries(kind)}
    JOIN hit ON hit.kind = '${kind}' AND t.merchant_id = hit.merchant_id AND t.id = hit.payment_id`;
}
