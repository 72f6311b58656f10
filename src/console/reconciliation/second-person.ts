import type { StatementImport } from '../../domain/reconciliation/import-store.ts';
import { needsApproval } from '../../domain/staff/approvals.ts';
import { kes } from '../shell/money.tsx';
import type { Visit } from '../visit.ts';

/**
 * Says why a member may not begin the comparison of a statement; null when the member may. A file
 * could say anything, so somebody else than who has brought it begins what is about much money.
 */
export function whyNotAlone(
  { member, service }: Pick<Visit, 'member' | 'service'>,
  { brought_by, preview }: StatementImport,
): string | null {
  const { staffApprovalLimit: limit } = service.config;
  const stake = preview?.stake_cents ?? 0;
  if (brought_by !== member.email || !needsApproval(stake, limit)) return null;
  return `It is about ${kes(stake)}, and you have brought the file. Above ${kes(limit)} somebody else must compare it`;
}
