import type { Transaction } from '../../connections/database.ts';
import type { AuditedChange } from '../audited-change.ts';
import { type RevokedCredentials, revokeCredentials } from '../identity/revoke-credentials.ts';
import { endedSessions, type RowChange } from '../row-change.ts';
import { changeEvents, revocationEvents } from '../security/change-events.ts';
import {
  createMerchant,
  type MerchantChanges,
  type MerchantRecord,
  type NewMerchant,
  requireMerchant,
  updateMerchant,
} from './manage-merchants.ts';
import { countOpenPayouts, type OpenPayouts } from './payout-hold.ts';

/** Creates a merchant for an operator, with the line for the audit log. */
export async function registerMerchant(
  trx: Transaction,
  merchant: NewMerchant,
): Promise<AuditedChange<MerchantRecord>> {
  const merchant_id = await createMerchant(trx, merchant);
  const value = await requireMerchant(trx, merchant_id);
  const subject = `merchant ${merchant_id}`;
  return { value, audit: { merchant_id, subject, details: { ...merchant } } };
}

export interface MerchantChange extends RowChange<MerchantRecord> {
  /** The number of sessions that were ended. */
  revoked: number;
  /** The payouts that a brake holds, and those for which it comes too late. Null without a brake. */
  payouts: OpenPayouts | null;
}

/**
 * Changes a merchant for an operator. A suspension ends all its sessions for good.
 * @throws OperatorRefusal when there is no such merchant.
 */
export async function changeMerchant(
  trx: Transaction,
  merchant_id: number,
  wanted: MerchantChanges,
): Promise<MerchantChange> {
  const { merchant: row, changed, revoked } = await updateMerchant(trx, merchant_id, wanted);
  const isBrake = wanted.active === false || wanted.payouts_held === true;
  return {
    ...{ row, merchant_id, revoked },
    changed: { ...changed, ...endedSessions(revoked) },
    events: [
      ...changeEvents({ merchant_id }, changed, 'merchant_suspended'),
      ...revocationEvents({ merchant_id }, revoked),
    ],
    payouts: isBrake ? await countOpenPayouts(trx, merchant_id) : null,
  };
}

/** What has ended of a merchant's credentials. */
export interface EndedCredentials {
  revoked: RevokedCredentials;
  /** The codes of the apps that have no secret left to sign webhooks with. */
  unsigned: number[];
  /** False when nothing was left to end. */
  changed: boolean;
}

/**
 * Ends all sessions and secrets of a merchant for an operator, with the line for the audit log.
 * @throws OperatorRefusal when there is no such merchant.
 */
export async function endCredentials(
  trx: Transaction,
  merchant_id: number,
  { keepWebhookSecrets }: { keepWebhookSecrets: boolean },
): Promise<AuditedChange<EndedCredentials>> {
  const ended = await revokeCredentials(trx, merchant_id, { keepWebhookSecrets });
  const changed = Object.values(ended.revoked).some((count) => count > 0);
  const value = { ...ended, changed };
  if (!changed) return { value, audit: null };
  const details = { ...ended.revoked, kept_webhook_secrets: keepWebhookSecrets };
  const event = { kind: 'credentials_revoked', merchant_id, detail: details } as const;
  const audit = { merchant_id, subject: `merchant ${merchant_id}`, details };
  return { value, audit, events: [event] };
}
