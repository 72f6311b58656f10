import type { Transaction } from '../../connections/database.ts';
import type { Audited } from '../audited-change.ts';
import type { Channel } from './channel.ts';
import { type Pausable, pauseChannel, resumeChannel } from './channel-store.ts';

type Named = Pick<Channel, 'code' | 'name'>;

/**
 * Pauses a channel, or only a part of what it carries, with its line in the audit log.
 * @returns false when as much was paused already
 */
export function pauseAudited(
  audited: Audited,
  channel: Named,
  only: Pausable | null,
): Promise<boolean> {
  const details = only === null ? {} : { what: only };
  return moved(audited, channel, (trx) => pauseChannel(trx, channel.code, only), details);
}

/** Resumes a channel, with its line in the audit log. @returns false when it was not paused */
export function resumeAudited(audited: Audited, channel: Named): Promise<boolean> {
  return moved(audited, channel, (trx) => resumeChannel(trx, channel.code));
}

function moved(
  audited: Audited,
  { code, name }: Named,
  move: (trx: Transaction) => Promise<boolean>,
  details: object = {},
): Promise<boolean> {
  return audited(async (trx) => {
    const value = await move(trx);
    const audit = { merchant_id: null, subject: `channel ${code}`, details: { name, ...details } };
    return { value, audit: value ? audit : null };
  });
}
