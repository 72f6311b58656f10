import { CHANNELS } from '../../domain/channels/channel.ts';
import type { ChannelPause } from '../../domain/channels/channel-store.ts';
import { shortened } from './document.ts';
import { moment } from './table.ts';

/** Names a channel by its code and its name. */
export function channelWords(code: number): string {
  return `${code} (${CHANNELS.find((channel) => channel.code === code)?.name ?? 'unknown'})`;
}

/** Says since when a channel is paused, by whom and why, as far as the audit log knows. */
export function sinceWords({ what, paused_at, paused_by, reason }: ChannelPause): string {
  const since = `${what ? `for ${what.join(' and ')} ` : ''}since ${moment(paused_at)}`;
  return paused_by === null ? since : `${since} by ${paused_by}: ${shortened(reason ?? '')}`;
}
