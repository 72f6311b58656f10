import { CHANNELS, type Channel } from '../../domain/channels/channel.ts';
import { type ChannelPause, channelPauses } from '../../domain/channels/channel-store.ts';
import { CHANNEL, channelOperations } from '../../operations/channel.ts';
import type { Service } from '../../service/service.ts';
import { verbsOf } from '../operation-verb.ts';
import { recordLines, type View } from '../output/answers.ts';
import { rowDocument } from '../output/document.ts';
import { table } from '../output/table.ts';
import { type Noun, reads } from '../verb.ts';

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

const show = reads({
  role: 'anyone',
  summary: 'Shows a channel, and who has paused it, when and why',
  options: CHANNEL.fields,
  argument: CHANNEL.argument,
  run: async (service, names) => {
    const state = (await readState(service))(await CHANNEL.find(service, names));
    return { data: view.document(state), lines: recordLines(view, state) };
  },
});

export const channel: Noun = {
  summary: 'Ways to move money',
  verbs: { list, show, ...verbsOf(channelOperations) },
};
