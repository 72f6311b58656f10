import { Refusal } from '../errors.ts';

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
