import { CHANNELS, type Channel } from '../../domain/channels/channel.ts';
import { pausedChannels } from '../../domain/channels/channel-store.ts';
import type { ApiContext } from '../context.ts';
import { endpoints } from '../endpoints/endpoints.ts';
import { mount } from '../middleware/mount.ts';
import { envelopeOf, pageRequestOf } from '../pagination.ts';
import { channelRecord } from '../presenters.ts';

export function addChannelRoutes(context: ApiContext): void {
  const { database, config, channels } = context;
  mount(context, endpoints.listChannels, async ({ query }) => {
    const paused = await pausedChannels(database);
    const noCollections = await pausedChannels(database, 'collection');
    const present = (channel: Channel) =>
      channelRecord(channel, channels.get(channel.code), {
        collection: noCollections.has(channel.code),
        payout: paused.has(channel.code),
      });
    const { page, pageSize } = pageRequestOf(query);
    const end = page * pageSize;
    const found = {
      count: CHANNELS.length,
      rows: CHANNELS.slice(end - pageSize, end),
      next: end < CHANNELS.length ? ('plain' as const) : null,
    };
    return { body: envelopeOf(config, endpoints.listChannels, query, found, present) };
  });
}
