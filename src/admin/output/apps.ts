import type { AppRecord } from '../../domain/merchants/app.ts';
import type { View } from './answers.ts';
import { rowDocument } from './document.ts';

const ANYWHERE = 'anywhere';

export const apps: View<AppRecord> = {
  what: 'app',
  keyOf: ({ code }) => code,
  document: ({ code, ...row }) => ({ app_code: code, ...rowDocument(row) }),
  columns: [
    ...(['code', 'merchant_id', 'name', 'active', 'products', 'app_key'] as const),
    ['MAY CALL FROM', ({ ip_allow_list }) => ip_allow_list.join(', ') || ANYWHERE],
  ],
  empty: { ip_allow_list: ANYWHERE },
};
