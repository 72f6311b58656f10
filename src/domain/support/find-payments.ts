import { validate as isUuid } from 'uuid';
import { type Database, rows } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { OperatorRefusal } from '../errors.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import type { PaymentStatus } from '../payments/payment.ts';
import {
  ACCOUNT_COLUMNS,
  PAYMENT_KINDS,
  type PaymentSummary,
  selectSummaries,
} from '../payments/payment-summary.ts';
import { kenyanMobileIn } from '../text.ts';

export interface PaymentSearch {
  /**
   * A ref_no, a payment's id or reference, a receipt, a gateway's reference, a webhook-id, or a
   * phone as people write it.
   */
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
  const phone = kenyanMobileIn(what) ?? null;
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
    ...(phone === null ? [] : PAYMENT_KINDS.map(newestOfPhone)),
  ];
  const wanted = PAYMENT_KINDS.filter((each) => kind === undefined || each === kind);
  return rows<PaymentSummary>(
    database,
    `WITH merchant AS MATERIALIZED (
       SELECT id FROM merchants WHERE CAST(:merchant_id AS bigint) IS NULL OR id = :merchant_id
     ), hit (kind, merchant_id, payment_id) AS MATERIALIZED (${hits.join(' UNION ')})
     SELECT * FROM (${wanted.map(summariesOfHits).join(' UNION ALL ')}) AS found
     ORDER BY created_at DESC, id DESC LIMIT :limit`,
    { what, phone, merchant_id: merchant_id ?? null, limit },
  );
}

/** A filter that means more payments than this must be narrowed. */
const MAX_PAYMENTS = 100;

/**
 * Finds the payments that a command is about.
 * @throws OperatorRefusal when no payment matches, or more than one
 */
export async function requirePayments(
  database: Database,
  search: Omit<PaymentSearch, 'limit'>,
): Promise<PaymentSummary[]> {
  const payments = await findPayments(database, { ...search, limit: MAX_PAYMENTS + 1 });
  const what = JSON.stringify(search.what);
  if (payments.length === 0) throw new OperatorRefusal(`No payment is known by ${what}`);
  if (payments.length <= MAX_PAYMENTS) return payments;
  throw new OperatorRefusal(`More than ${MAX_PAYMENTS} payments are known by ${what}: --merchant`);
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

/** A customer pays a merchant more than once. */
function newestOfPhone(kind: GatewayPaymentKind): string {
  return `SELECT '${kind}', merchant.id, one.id
    FROM merchant CROSS JOIN LATERAL (
      SELECT id FROM ${STEP_TABLES[kind].table}
      WHERE merchant_id = merchant.id AND ${ACCOUNT_COLUMNS[kind]} = :phone
      ORDER BY created_at DESC LIMIT :limit
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
  WHERE trans_id = upper(:what) AND merchant_id IN (SELECT id FROM merchant)`;

function ofAllMerchants(kind: GatewayPaymentKind, condition: string): string {
  return `SELECT '${kind}', merchant_id, id FROM ${STEP_TABLES[kind].table}
    WHERE ${condition} AND merchant_id IN (SELECT id FROM merchant)`;
}

function summariesOfHits(kind: GatewayPaymentKind): string {
  return `${selectSummaries(kind)}
    JOIN hit ON hit.kind = '${kind}' AND t.merchant_id = hit.merchant_id AND t.id = hit.payment_id`;
}

/** The known facts of the payments that support looks for. A field may be left out. */
export interface PaymentFilter {
  merchant_id?: number | undefined;
  /** A return has no app. */
  app_code?: number | undefined;
  kind?: GatewayPaymentKind | undefined;
  /** The phone on the other side, E.164. */
  phone?: string | undefined;
  /** The last digits of the phone or account on the other side. No index has them. */
  ends_with?: string | undefined;
  /** As they are stored, also of a failed payout that waits for its refund. */
  statuses?: PaymentStatus[] | undefined;
  channel?: number | undefined;
  min_cents?: number | undefined;
  max_cents?: number | undefined;
  /** Created at this moment or later. */
  since?: Date | undefined;
  /** Created before this moment. */
  until?: Date | undefined;
}

/** The kinds of payments that can fit a filter. */
export function kindsIn({ kind, app_code }: PaymentFilter): GatewayPaymentKind[] {
  return PAYMENT_KINDS.filter(
    (each) =>
      (kind === undefined || each === kind) && (app_code === undefined || each !== 'return'),
  );
}

/** Returns the conditions on payments `t` of a kind. The merchant is left to the query. */
export function conditionsOf(kind: GatewayPaymentKind, filter: PaymentFilter): string[] {
  const conditions: Partial<Record<keyof PaymentFilter, string>> = {
    app_code: 't.app_code = :app_code',
    phone: `t.${ACCOUNT_COLUMNS[kind]} = :phone`,
    ends_with: `t.${ACCOUNT_COLUMNS[kind]} LIKE '%' || :ends_with`,
    statuses: 't.status = ANY (CAST(:statuses AS text[]))',
    channel: 't.channel = :channel',
    min_cents: 't.amount_cents >= :min_cents',
    max_cents: 't.amount_cents <= :max_cents',
    since: 't.created_at >= :since',
    until: 't.created_at < :until',
  };
  return Object.entries(conditions)
    .filter(([name]) => filter[name as keyof PaymentFilter] !== undefined)
    .map(([, condition]) => condition);
}
