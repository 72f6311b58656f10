import { type Read, recordRead } from '../../domain/audited-read.ts';
import type { Visit } from '../visit.ts';

/**
 * Writes into the audit log what the member is about to see, as the command line does. While the
 * database can only be read, the page is shown all the same, and says that the log lacks it.
 */
export async function recordView(
  { service: { database, logger }, member, warnings }: Visit,
  read: Omit<Read, 'actor'>,
): Promise<void> {
  const actor = member.email;
  const warning = await recordRead(database, { ...read, actor });
  if (warning === null) return;
  warnings.push(warning);
  logger.warn('a read is not in the audit log', { actor, action: read.action });
}
