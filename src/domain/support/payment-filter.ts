import type { GatewayPaymentKind } from '../gateway-results.ts';
import type { PaymentStatus } from '../payments/payment.ts';
import { ACCOUNT_COLUMNS, PAYMENT_KINDS } from '../payments/payment-summary.ts';

/** What support knows of the payments that it looks for. Fields that are left out do not matter. */
export interface PaymentFilter {
  merchant_id?: number | undefined;
  /** A return has no app. */
  app_code?: number | undefined;
  kind?: GatewayPaymentKind | undefined;
  /** The phone on the other side, E.164. */
  phone?: string | undefined;
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
