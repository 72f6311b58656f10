import type { AppRecord } from '../domain/merchants/manage-apps.ts';
import type { ListView } from './lists.ts';
import { fields, moment, yesNo } from './output.ts';

const ANYWHERE = 'anywhere';

export function appDocument({ code, created_at, ...rest }: AppRecord) {
  return { app_code: code, ...rest, created_at: created_at.toISOString() };
}

/** An app for people, with a first line that says what became of it. */
export function appLines(words: string, row: AppRecord, secret?: string): string[] {
  const values = fields({
    merchant: String(row.merchant_id),
    name: row.name,
    active: yesNo(row.active),
    products: row.products.join(', '),
    'may call from': row.ip_allow_list.join(', ') || ANYWHERE,
    created: moment(row.created_at),
    key: row.app_key,
    ...(secret && { secret }),
  });
  const once = secret ? ['The secret is shown this once only.'] : [];
  return [`App ${row.code} ${words}`, ...values, ...once];
}

export const appList: ListView<AppRecord> = {
  what: 'app',
  keyOf: ({ code }) => code,
  document: appDocument,
  titles: ['CODE', 'MERCHANT', 'NAME', 'ACTIVE', 'PRODUCTS', 'KEY', 'MAY CALL FROM'],
  cells: (row) => [
    String(row.code),
    String(row.merchant_id),
    row.name,
    yesNo(row.active),
    row.products.join(','),
    row.app_key,
    row.ip_allow_list.join(',') || ANYWHERE,
  ],
};
