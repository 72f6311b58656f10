import type { Transaction } from '../connections/database.ts';
import { CHANNELS, type Channel } from '../domain/channels/channel.ts';
import { pauseChannel, pausedChannels, resumeChannel } from '../domain/channels/channel-store.ts';
import { ALREADY, type Command, changes, reads, required } from './command.ts';
import { columns, yesNo } from './output.ts';
import { channel } from './readers.ts';

const list = reads({
  summary: 'Lists the channels, their drivers, and which are paused',
  options: {},
  run: async ({ database, config }) => {
    const paused = await pausedChannels(database);
    const channels = CHANNELS.map(({ code, name }) => ({
      code,
      name,
      driver: config.channels.get(code) ?? null,
      paused: paused.has(code),
    }));
    return {
      data: { channels },
      lines: columns([
        ['CODE', 'NAME', 'DRIVER', 'PAUSED'],
        ...channels.map((row) => [
          String(row.code),
          row.name,
          row.driver ?? 'none',
          yesNo(row.paused),
        ]),
      ]),
    };
  },
});

const pause = verdict(
  'Stops new payments of a channel, and submissions of those that wait',
  'paused',
  pauseChannel,
);
const resume = verdict(
  'Lets a paused channel take and submit payments again',
  'open',
  resumeChannel,
);

function verdict(
  summary: string,
  state: 'paused' | 'open',
  move: (trx: Transaction, code: number) => Promise<boolean>,
): Command {
  return changes({
    summary,
    options: { channel: required(channel, 'Which channel') },
    run: async (context, values) => {
      const { code, name }: Channel = values.channel;
      const changed = await context.audited(async (trx) => {
        const isChanged = await move(trx, code);
        const audit = { merchant_id: null, subject: `channel ${code}`, details: { name } };
        return { value: isChanged, audit: isChanged ? audit : null };
      });
      const words = changed ? `is ${state} now` : `is ${state} ${ALREADY}`;
      return {
        data: { code, name, paused: state === 'paused', changed },
        lines: [`Channel ${code} (${name}) ${words}`],
      };
    },
  });
}

export const channelVerbs = { list, pause, resume };
