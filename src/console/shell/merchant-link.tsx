import { pathTo } from '../routes.ts';

/** A link to a merchant, by its number. */
export function MerchantLink({ merchant_id }: { merchant_id: number | null }) {
  if (merchant_id === null) return '–';
  return <a href={pathTo('merchant', { merchant_id })}>{merchant_id}</a>;
}
