import type { MerchantRecord } from '../domain/merchants/manage-merchants.ts';
import { formatAmount } from '../domain/money.ts';
import type { ListView } from './lists.ts';
import { fields, moment, yesNo } from './output.ts';

/** A merchant as JSON; null is the configuration's value. */
export function merchantDocument(row: MerchantRecord) {
  const { id, commission_fixed_cents, created_at, ...rest } = row;
  return {
    merchant_id: id,
    ...rest,
    commission_fixed: amountOrNull(commission_fixed_cents),
    created_at: created_at.toISOString(),
  };
}

/** A merchant for people, with a first line that says what became of it. */
export function merchantLines(
  words: string,
  row: MerchantRecord,
  more: Record<string, string> = {},
): string[] {
  const valueOrDefault = (value: number | string | null) => String(value ?? 'default');
  const values = fields({
    name: row.name,
    'e-mail': row.email,
    phone: row.phone_number,
    active: yesNo(row.active),
    approved: yesNo(row.approved),
    'commission bps': valueOrDefault(row.commission_bps),
    'commission fixed': valueOrDefault(amountOrNull(row.commission_fixed_cents)),
    'rate per minute': valueOrDefault(row.rate_limit_per_minute),
    'rate burst': valueOrDefault(row.rate_limit_burst),
    created: moment(row.created_at),
    ...more,
  });
  return [`Merchant ${row.id} ${words}`.trimEnd(), ...values];
}

export const merchantList: ListView<MerchantRecord> = {
  what: 'merchant',
  keyOf: ({ id }) => id,
  document: merchantDocument,
  titles: ['ID', 'NAME', 'E-MAIL', 'PHONE', 'ACTIVE', 'APPROVED'],
  cells: (row) => [
    String(row.id),
    row.name,
    row.email,
    row.phone_number,
    yesNo(row.active),
    yesNo(row.approved),
  ],
};

export function amountOrNull(cents: number | null | undefined): string | null {
  return cents === null || cents === undefined ? null : formatAmount(cents);
}
