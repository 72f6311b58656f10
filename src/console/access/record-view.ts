import { type Read, recordRead } from '../../domain/audited-read.ts';
import type { Visit } from '../visit.ts';

/** Writes into the audit log what the member is about to see, as the command line does. */
export async function recordView(
  { service, member }: Pick<Visit, 'service' | 'member'>,
  read: Omit<Read, 'actor'>,
): Promise<void> {
  await recordRead(service.database, { ...read, actor: member.email });
}
