import { type MerchantRecord, requireMerchant } from '../../domain/merchants/merchant.ts';
import { recordView } from '../access/audit.ts';
import { pathTo } from '../routes.ts';
import type { Resource } from '../shell/operation.tsx';
import { found, numberInPath } from '../shell/read-fields.ts';
import type { Visit } from '../visit.ts';

/** The merchant that the pages under its address are about. */
export const MERCHANT: Resource<MerchantRecord> = {
  find: ({ service, params }) =>
    found(requireMerchant(service.database, numberInPath(params, 'merchant_id'))),
  recordView: (visit, merchant) => recordMerchantView(visit, merchant),
  nameOf: ({ id, name }) => `${name} (merchant ${id})`,
  pathOf: ({ id: merchant_id }) => pathTo('merchant', { merchant_id }),
};

export async function recordMerchantView(
  visit: Visit,
  { id: merchant_id }: MerchantRecord,
  action = 'merchant.show',
): Promise<void> {
  const subject = `merchant ${merchant_id}`;
  await recordView(visit, { action, merchant_id, subject, lookedFor: { merchant_id }, rows: 1 });
}
