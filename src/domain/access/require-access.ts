import { isOnList } from '../address.ts';
import { Refusal } from '../errors.ts';
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

/** The operations for which people can be made to log in with a one-time password. */
export const TOTP_OPERATIONS = ['payouts', 'transfers', 'reversals'] as const;
export type TotpOperation = (typeof TOTP_OPERATIONS)[number];

/** Tells whether a one-time password can be required for an operation. */
export function isTotpOperation(operation: string): operation is TotpOperation {
  return TOTP_OPERATIONS.some((known) => known === operation);
}

/**
 * Reads a list of operations, such as `payouts,transfers`.
 * @throws Error that says what is accepted
 */
export function totpOperationsFromText(text: string): readonly TotpOperation[] {
  const words = text.split(',').map((word) => word.trim());
  if (words.every(isTotpOperation)) return TOTP_OPERATIONS.filter((word) => words.includes(word));
  throw new Error(`must be a list out of ${TOTP_OPERATIONS.join(', ')}`);
}

interface Requirement {
  app: object | null;
  withTotp: boolean;
  totpRequiredFor: readonly TotpOperation[];
}

/**
 * Requires that a person has logged in with a one-time password, if the merchant, or the operator
 * for all merchants, wants that for the operation. Apps are not concerned.
 * @throws Refusal `otp_login_required`, naming the operation
 */
export function requireTotp(
  { app, withTotp, totpRequiredFor }: Requirement,
  operation: string,
  requiredForAll: readonly TotpOperation[],
): void {
  if (app || withTotp || !isTotpOperation(operation)) return;
  if (totpRequiredFor.includes(operation) || requiredForAll.includes(operation)) {
    throw new Refusal('otp_login_required', operation);
  }
}
