import type { AuditRecord } from '../../domain/audit-log.ts';
import { VEILED } from '../shell/veil.ts';

/**
 * Hides the personal data of a line of the audit log. E-mail addresses in its subject and details
 * stay: they are those of staff, merchants and their users. Numbers in its details are ours.
 */
export function veiled({ subject, reason, details, ...line }: AuditRecord): AuditRecord {
  const hidden = (_name: string, value: unknown) =>
    typeof value === 'string' ? VEILED.numbers(value) : value;
  return {
    ...line,
    subject: VEILED.numbers(subject),
    reason: reason && VEILED.text(reason),
    details: JSON.parse(JSON.stringify(details, hidden)) as AuditRecord['details'],
  };
}
