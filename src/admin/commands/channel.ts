import { CHANNELS, type Channel } from '../../domain/channels/channel.ts';
import {
  type ChannelPause,
  channelPauses,
  PAUSABLE,
  pauseAudited,
  resumeAudited,
} from '../../domain/channels/channel-store.ts';
import { optional, required } from '../../operations/field.ts';
import * as read from '../../operations/readers.ts';
import type { Service } from '../../service/service.ts';
import { outcome, recordLines, type View } from '../output/answers.ts';
import { rowDocument } from '../output/document.ts';
import { table } from '../output/table.ts';
import { type Answer, changes, type Noun, reads } from '../verb.ts';

interface ChannelState extends Omit<ChannelPause, 'paused_at'> {
  name: string;
  type: Channel['type'];
  driver: string | null;
  paused: boolean;
  paused_at: Date | null;
}

const NOT_PAUSED = { what: null, paused_at: null, paused_by: null, reason: null };

const view: View<ChannelState> = {
  what: 'channel',
  keyOf: ({ code, name }) => `${code} (${name})`,
  document: (state) => rowDocument(state),
  columns: [
    ...(['code', 'name', 'driver', 'paused', 'what'] as const),
    ['SINCE', 'paused_at'],
    ['BY', 'paused_by'],
    'reason',
  ],
};

async function readState({ database, config }: Service): Promise<(of: Channel) => ChannelState> {
  const pauses = await channelPauses(database);
  return ({ code, name, type }) => {
    const driver = config.channels.get(code) ?? null;
    const pause = pauses.get(code) ?? NOT_PAUSED;
    return { code, name, type, driver, paused: pauses.has(code), ...pause };
  };
}

const list = reads({
  role: 'anyone',
  summary: 'Lists the channels with their drivers, and says which are paused, by whom and why',
  run: async (service) => {
    const channels = CHANNELS.map(await readState(service));
    return {
      data: { channels: channels.map(view.document) },
      lines: table(channels, view.columns),
    };
  },
});

const options = { channel: required('channel', read.channel, 'The code of the channel') };

const show = reads({
  role: 'anyone',
  summary: 'Shows a channel, and who has paused it, when and why',
  options,
  argument: 'channel',
  run: async (service, { channel }) => {
    const state = (await readState(service))(channel);
    return { data: view.document(state), lines: recordLines(view, state) };
  },
});

function movedAnswer({ code, name }: Channel, state: 'paused' | 'open', changed: boolean): Answer {
  return {
    data: { code, name, paused: state === 'paused', changed },
    lines: [`Channel ${code} (${name}) ${outcome(changed, state)}`],
  };
}

const pause = changes({
  role: 'admin',
  summary: 'Stops new payments of a channel, and the submission of those that wait',
  notes:
    'The service itself pauses payouts, or reversals with returns, when three in a row fail by our own trouble with the gateway, such as a float that is too low; and all of the channel when three collections do.',
  options: {
    ...options,
    only: optional('only', read.oneOf(PAUSABLE), 'Stops only these; reversals with returns'),
  },
  argument: 'channel',
  run: async (_service, { channel, only = null }, { audited }) =>
    movedAnswer(channel, 'paused', await pauseAudited(audited, channel, only)),
});

const resume = changes({
  role: 'admin',
  summary: 'Lets a paused channel take and submit payments again',
  options,
  argument: 'channel',
  run: async (_service, { channel }, { audited }) =>
    movedAnswer(channel, 'open', await resumeAudited(audited, channel)),
});

export const channel: Noun = {
  summary: 'Ways to move money',
  verbs: { list, show, pause, resume },
};
