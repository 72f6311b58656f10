import { Refusal } from '../errors.ts';

/** SQL: whether the address `:ip` is on the allow list of the app `a`. An empty list allows all. */
export const IP_ALLOWED = `coalesce(
  cardinality(a.ip_allow_list) = 0 OR CAST(:ip AS inet) <<= ANY (a.ip_allow_list), false)`;

export interface Access {
  ip_allowed: boolean;
  merchant_active: boolean;
  app_active: boolean;
}

/**
 * Requires that an app and its merchant may use the API. The order is part of the API.
 * @throws Refusal `ip_not_allowed`, `merchant_inactive`, `app_inactive`
 */
export function requireAccess({ ip_allowed, merchant_active, app_active }: Access): void {
  if (!ip_allowed) throw new Refusal('ip_not_allowed');
  if (!merchant_active) throw new Refusal('merchant_inactive');
  if (!app_active) throw new Refusal('app_inactive');
}
