import type { Transaction } from '../../connections/database.ts';
import type { KeyRing } from '../../process/key-ring.ts';
import { Refusal } from '../errors.ts';
import { recordSecurityEvent } from '../security/security-events.ts';
import { eventBy, type Person } from './person.ts';
import { useRecoveryCode } from './recovery-codes.ts';
import { useTotp } from './totp.ts';

/** Returns the one-time password of a request. @throws Refusal `otp_required` */
export function givenOtp(otp: string | undefined): string {
  if (!otp) throw new Refusal('otp_required');
  return otp;
}

/**
 * Uses a one-time password, or a recovery code in its place. Spaces and dashes do not matter.
 * The use is undone with the transaction, so one that is refused later stays good.
 * @returns whether it was right.
 */
export async function useOtp(
  trx: Transaction,
  secretsKeys: KeyRing,
  person: Person,
  otp: string,
): Promise<boolean> {
  const code = plainCode(otp);
  if (await useTotp(trx, secretsKeys, person, code)) return true;
  if (!(await useRecoveryCode(trx, person, code))) return false;
  await recordSecurityEvent(trx, { ...eventBy(person), kind: 'recovery_code_used' });
  return true;
}

/** Returns a code as it is made, however people write it. */
export function plainCode(otp: string): string {
  return otp.replace(/[\s-]/g, '').toLowerCase();
}
