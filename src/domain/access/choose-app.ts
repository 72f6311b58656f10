import { type Database, firstRow, rows, type Transaction } from '../../connections/database.ts';
import { isOnList } from '../address.ts';
import { Refusal } from '../errors.ts';
import type { Product } from '../merchants/app.ts';
import type { Caller } from './caller.ts';
import { type AccessHolder, addressRefused } from './require-access.ts';

const ON_ITS_LIST = isOnList('ip_allow_list');

/**
 * Chooses the app that a collection is booked on, or that a test is signed for: the token's app; for
 * a person the named app, or else the merchant's only active app with the product. The app's list of
 * addresses holds for people too.
 * @param product null for any
 * @throws Refusal `app_not_found`, `ip_not_allowed`, `app_inactive`, `product_missing`,
 * `field_required`, `invalid_field` (not the token's app)
 */
export async function chooseApp(
  database: Database | Transaction,
  caller: Caller,
  product: Product | null,
  appCode: number | undefined,
): Promise<number> {
  const own = appOfToken(caller, appCode);
  if (own !== null) return own;
  if (appCode !== undefined) return namedApp(database, caller, product, appCode);
  const able = await rows<{ code: number; ip_allowed: boolean }>(
    database,
    `SELECT code, ${ON_ITS_LIST} AS ip_allowed FROM apps
     WHERE merchant_id = :merchant_id AND active
       AND (CAST(:product AS text) IS NULL OR :product = ANY (products)) LIMIT 2`,
    { merchant_id: caller.merchant_id, product, ip: caller.asker.asked_ip },
  );
  if (able.length > 1) throw new Refusal('field_required', 'app_code');
  if (!able[0]) {
    throw product === null ? new Refusal('app_not_found') : new Refusal('product_missing', product);
  }
  if (!able[0].ip_allowed) throw addressRefused(holderFor(caller, able[0].code));
  return able[0].code;
}

/**
 * Returns the token's app; null for a person. A request that does not choose may name only this app.
 * @throws Refusal `invalid_field`
 */
export function appOfToken({ app }: Caller, appCode: number | undefined): number | null {
  if (!app) return null;
  if (appCode !== undefined && appCode !== app.code) throw new Refusal('invalid_field', 'app_code');
  return app.code;
}

/**
 * Checks that a payment may be booked on this app of the caller's merchant. The app's own list of
 * addresses holds for every caller that names it.
 * @param product null for any
 * @returns the app's code.
 * @throws Refusal `app_not_found`, `ip_not_allowed`, `app_inactive`, `product_missing`
 */
export async function namedApp(
  database: Database | Transaction,
  caller: Caller,
  product: Product | null,
  appCode: number,
): Promise<number> {
  const { merchant_id, app: own, asker } = caller;
  const hasProduct = (products: Product[]) => product === null || products.includes(product);
  // The token's app was read with the token, and its list was checked.
  if (own?.code === appCode && hasProduct(own.products)) return appCode;
  const app = await firstRow<{ active: boolean; products: Product[]; ip_allowed: boolean }>(
    database,
    `SELECT active, products, ${ON_ITS_LIST} AS ip_allowed FROM apps
     WHERE merchant_id = :merchant_id AND code = :code`,
    { merchant_id, code: appCode, ip: asker.asked_ip },
  );
  if (!app) throw new Refusal('app_not_found');
  if (!app.ip_allowed) throw addressRefused(holderFor(caller, appCode));
  if (!app.active) throw new Refusal('app_inactive');
  if (!hasProduct(app.products)) throw new Refusal('product_missing', product!);
  return appCode;
}

/** Says whose list has refused a caller, for the event. */
function holderFor({ merchant_id, asker }: Caller, app_code: number): AccessHolder {
  return { merchant_id, app_code, user_id: asker.asked_user, family: asker.asked_family };
}
