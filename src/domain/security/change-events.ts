import type { Differences } from '../update-row.ts';
import type { SecurityEvent, SecurityEventKind } from './security-events.ts';

/** Whose access has changed. */
export type Subject = Pick<SecurityEvent, 'merchant_id' | 'app_code' | 'user_id'>;

/** The kind of event that says that access has ended, by what a deactivated row is. */
type Ending = Extract<
  SecurityEventKind,
  'user_deactivated' | 'app_suspended' | 'merchant_suspended'
>;

/** Returns the security events of a change to a user, an app or a merchant. */
export function changeEvents(
  subject: Subject,
  changed: Differences,
  ending: Ending,
): SecurityEvent[] {
  const { role, active, ip_allow_list: addresses } = changed;
  return [
    ...(role ? [{ ...subject, kind: 'role_changed' as const, detail: role }] : []),
    ...(addresses
      ? [{ ...subject, kind: 'allow_list_changed' as const, detail: sizes(addresses) }]
      : []),
    ...(active?.to === false ? [{ ...subject, kind: ending }] : []),
  ];
}

/** Returns the event of sessions that were ended, if there were any. */
export function revocationEvents(subject: Subject, families: number): SecurityEvent[] {
  return families > 0 ? [{ ...subject, kind: 'tokens_revoked', detail: { families } }] : [];
}

/** Returns the event of another secret that signs an app's webhooks. */
export function webhookSecretRotated(
  { merchant_id, code }: { merchant_id: number; code: number },
  detail: SecurityEvent['detail'],
): SecurityEvent {
  return { kind: 'webhook_secret_rotated', merchant_id, app_code: code, detail };
}

/** The addresses themselves are in the audit log. No addresses: the app may call from anywhere. */
function sizes({ from, to }: Differences[string]) {
  const count = (addresses: unknown) => (addresses as unknown[]).length;
  return { addresses: { from: count(from), to: count(to) } };
}
