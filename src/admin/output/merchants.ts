import type { MerchantRecord } from '../../domain/merchants/merchant.ts';
import type { View } from './answers.ts';
import { rowDocument } from './document.ts';

export const merchantView: View<MerchantRecord> = {
  what: 'merchant',
  keyOf: ({ id }) => id,
  document: ({ id, ...row }) => ({ merchant_id: id, ...rowDocument(row) }),
  columns: ['id', 'name', 'email', 'phone_number', 'active', 'approved', 'payouts_held'],
};
