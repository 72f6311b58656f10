import { Refusal } from '../errors.ts';
import { isOnList } from '../ip-allow-list.ts';

/**
 * SQL: whether the list that holds for a token allows the address `:ip`. It is that of the app `a`,
 * or without one that of the merchant `m` for its users.
 */
export const IP_ALLOWED = isOnList('coalesce(a.ip_allow_list, m.user_ip_allow_list)');

export interface Access {
  ip_allowed: boolean;
  merchant_active: boolean;
  app_active: boolean;
}

/**
 * Requires that an app or a person, and the merchant, may use the API. The order is part of the API.
 * @throws Refusal `ip_not_allowed`, `merchant_inactive`, `app_inactive`
 */
export function requireAccess({ ip_allowed, merchant_active, app_active }: Access): void {
  if (!ip_allowed) throw new Refusal('ip_not_allowed');
  if (!merchant_active) throw new Refusal('merchant_inactive');
  if (!app_active) throw new Refusal('app_inactive');
}
