import { actionHandlers } from '../shell/action.ts';
import type { Answer, Visit } from '../visit.ts';
import { CHANNEL, pause, resume } from './actions.tsx';
import { readChannels } from './query.ts';
import { ChannelsPage } from './view.tsx';

/** The ways to move money, and what stops them. They are nobody's data, so no read is recorded. */
export const channelHandlers = {
  channels: async (visit: Visit): Promise<Answer> => {
    const channels = await readChannels(visit.service);
    return { page: <ChannelsPage visit={visit} channels={channels} />, title: 'Channels' };
  },

  ...actionHandlers('channelPause', CHANNEL, () => pause),
  ...actionHandlers('channelResume', CHANNEL, () => resume),
};
