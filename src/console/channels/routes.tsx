import { actionDone, actionForm } from '../shell/action.tsx';
import type { Answer, Visit } from '../visit.ts';
import { pause, resume } from './actions.tsx';
import { readChannels } from './query.ts';
import { ChannelsPage } from './view.tsx';

/** The ways to move money, and what stops them. They are nobody's data, so no read is recorded. */
export const channelHandlers = {
  channels: async (visit: Visit): Promise<Answer> => {
    const channels = await readChannels(visit.service);
    return { page: <ChannelsPage visit={visit} channels={channels} />, title: 'Channels' };
  },

  channelPauseForm: actionForm(pause),
  channelPause: actionDone(pause),
  channelResumeForm: actionForm(resume),
  channelResume: actionDone(resume),
};
