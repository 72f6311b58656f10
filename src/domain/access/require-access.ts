import { Refusal } from '../errors.ts';
import { isOnList } from '../ip-address.ts';
import type { SecurityEvent } from '../security/security-events.ts';

/** Whose access it is, for the events about it. */
export type AccessHolder = Pick<SecurityEvent, 'merchant_id' | 'app_code' | 'user_id' | 'family'>;

/** Picks the holder out of a row. */
export function holderOf({ merchant_id, app_code, user_id }: AccessHolder): AccessHolder {
  return { merchant_id, app_code, user_id };
}

/**
 * SQL: whether the list that holds for a token allows the address `:ip`: the list of the app `a`, or
 * without an app the list of the merchant `m` for its users.
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
export function requireAccess(
  { ip_allowed, merchant_active, app_active }: Access,
  holder: AccessHolder,
): void {
  if (!ip_allowed) throw addressRefused(holder);
  if (!merchant_active) throw new Refusal('merchant_inactive');
  if (!app_active) throw new Refusal('app_inactive');
}

/** Refuses an address that is not on the list that holds. */
export function addressRefused(holder: AccessHolder): Refusal {
  return new Refusal('ip_not_allowed').recordedAs({ kind: 'address_refused', ...holder });
}
