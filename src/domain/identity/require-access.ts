import { Refusal } from '../errors.ts';
import type { SecurityEvent } from '../security/security-events.ts';

/** Whose access it is, for the events about it. */
export type AccessHolder = Pick<SecurityEvent, 'merchant_id' | 'app_code' | 'user_id' | 'family'>;

/** Picks the holder out of a row. */
export function holderOf({ merchant_id, app_code, user_id }: AccessHolder): AccessHolder {
  return { merchant_id, app_code, user_id };
}

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
export function requireAccess(
  { ip_allowed, merchant_active, app_active }: Access,
  holder: AccessHolder,
): void {
  if (!ip_allowed) {
    throw new Refusal('ip_not_allowed').recordedAs({ kind: 'address_refused', ...holder });
  }
  if (!merchant_active) throw new Refusal('merchant_inactive');
  if (!app_active) throw new Refusal('app_inactive');
}
