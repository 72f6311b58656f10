import type { Transaction } from '../../connections/database.ts';
import { CHANNELS } from '../../domain/channels/channel.ts';
import {
  pauseChannel,
  pausedChannels,
  resumeChannel,
} from '../../domain/channels/channel-store.ts';
import { required } from '../options/option.ts';
import * as read from '../options/readers.ts';
import { outcome } from '../output/answers.ts';
import { table } from '../output/table.ts';
import { changes, type Noun, reads, type Verb } from '../verb.ts';

const list = reads({
  summary: 'Lists the channels with their drivers, and says which are paused',
  run: async ({ database, config }) => {
    const paused = await pausedChannels(database);
    const channels = CHANNELS.map(({ code, name }) => ({
      code,
      name,
      driver: config.channels.get(code) ?? null,
      paused: paused.has(code),
    }));
    return { data: { channels }, lines: table(channels, ['code', 'name', 'driver', 'paused']) };
  },
});

function verdict(
  summary: string,
  state: 'paused' | 'open',
  move: (trx: Transaction, code: number) => Promise<boolean>,
): Verb {
  return changes({
    summary,
    options: { channel: required('channel', read.channel, 'The code of the channel') },
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
    pause: verdict(PAUSE, 'paused', pauseChannel),
    resume: verdict(RESUME, 'open', resumeChannel),
  },
};
