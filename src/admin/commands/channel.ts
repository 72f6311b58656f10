import type { Transaction } from '../../connections/database.ts';
import { CHANNELS, type Channel } from '../../domain/channels/channel.ts';
import {
  type ChannelPause,
  channelPauses,
  pauseChannel,
  resumeChannel,
} from '../../domain/channels/channel-store.ts';
import type { Service } from '../../process/boot.ts';
import { required } from '../options/option.ts';
import * as read from '../options/readers.ts';
import { outcome, recordLines, type View } from '../output/answers.ts';
import { rowDocument } from '../output/document.ts';
import { table } from '../output/table.ts';
import { changes, type Noun, reads, type Verb } from '../verb.ts';

interface ChannelState extends Omit<ChannelPause, 'paused_at'> {
  name: string;
  type: Channel['type'];
  driver: string | null;
  paused: boolean;
  paused_at: Date | null;
}

const NOT_PAUSED = { paused_at: null, paused_by: null, reason: null };

const view: View<ChannelState> = {
  what: 'channel',
  keyOf: ({ code, name }) => `${code} (${name})`,
  document: (state) => rowDocument(state),
  columns: [
    ...(['code', 'name', 'driver', 'paused'] as const),
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
  summary: 'Shows a channel, and who has paused it, when and why',
  options,
  argument: 'channel',
  run: async (service, { channel }) => {
    const state = (await readState(service))(channel);
    return { data: view.document(state), lines: recordLines(view, state) };
  },
});

function verdict(
  summary: string,
  state: 'paused' | 'open',
  move: (trx: Transaction, code: number) => Promise<boolean>,
): Verb {
  return changes({
    summary,
    options,
    argument: 'channel',
    run: async (_service, { channel: { code, name } }, { audited }) => {
      const changed = await audited(async (trx) => {
        const value = await move(trx, code);
        const audit = { merchant_id: null, subject: `channel ${code}`, details: { name } };
        return { value, audit: value ? audit : null };
      });
      return {
        data: { code, name, paused: state === 'paused', changed },
        lines: [`Channel ${code} (${name}) ${outcome(changed, state)}`],
      };
    },
  });
}

const PAUSE = 'Stops new payments of a channel, and the submission of those that wait';
const RESUME = 'Lets a paused channel take and submit payments again';

export const channel: Noun = {
  summary: 'Ways to move money',
  verbs: {
    list,
    show,
    pause: verdict(PAUSE, 'paused', pauseChannel),
    resume: verdict(RESUME, 'open', resumeChannel),
  },
};
