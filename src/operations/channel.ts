import type { Channel } from '../domain/channels/channel.ts';
import {
  channelPauses,
  PAUSABLE,
  pauseAudited,
  resumeAudited,
} from '../domain/channels/channel-store.ts';
import { OperatorRefusal } from '../domain/errors.ts';
import { ALREADY } from './changed-row.ts';
import { optional, required } from './field.ts';
import { define, type Noun, type Result } from './operation.ts';
import * as read from './readers.ts';

export const CHANNEL: Noun<Channel> = {
  fields: { channel: required('channel', read.channel, 'The code of the channel') },
  argument: 'channel',
  find: async (_service, { channel }) => channel as Channel,
};

const WHAT = {
  payouts: 'New payouts',
  reversals: 'New reversals and returns to customers',
} as const;

const pause = define({
  name: 'channel.pause',
  role: 'admin',
  title: 'Pause a channel',
  button: 'Pause',
  summary: 'Stops new payments of a channel, and the submission of those that wait',
  notes:
    'The service itself pauses payouts, or reversals with returns, when three in a row fail by our own trouble with the gateway, such as a float that is too low; and all of the channel when three collections do.',
  about: CHANNEL,
  fields: {
    only: optional('only', read.oneOf(PAUSABLE), 'Stops only these; reversals with returns', {
      label: 'What to pause',
      unchosen: 'everything',
    }),
  },
  asksFirst: true,
  preview: async ({ service, subject: { code, name } }, values) => {
    const only = values?.only;
    const paused = (await channelPauses(service.database)).get(code);
    if (paused && (paused.what === null || (only && paused.what.includes(only)))) {
      throw new OperatorRefusal(`As much of channel ${code} (${name}) is paused already`);
    }
    return [
      `${only ? WHAT[only] : 'New payments'} of channel ${code} (${name}) are refused: merchants get 503 and can ask again.`,
      'Payments that wait are kept and not sent, until somebody resumes the channel.',
      'What was sent goes on: gateways are asked, callbacks are taken, and payments end.',
    ];
  },
  perform: async ({ audited, subject }, { only = null }) =>
    moved(subject, 'paused', await pauseAudited(audited, subject, only)),
});

const resume = define<Channel, Record<never, never>>({
  name: 'channel.resume',
  role: 'admin',
  title: 'Resume a channel',
  button: 'Resume',
  summary: 'Lets a paused channel take and submit payments again',
  about: CHANNEL,
  fields: {},
  preview: async ({ service, subject: { code, name } }) => {
    const paused = (await channelPauses(service.database)).get(code);
    if (!paused) throw new OperatorRefusal(`Channel ${code} (${name}) is not paused`);
    return [
      `Channel ${code} (${name}) takes new payments again.`,
      'Payments that have waited are sent, each once, under the reference that they have.',
      'Its troubles are forgotten: three new ones in a row pause it again.',
    ];
  },
  perform: async ({ audited, subject }) =>
    moved(subject, 'open', await resumeAudited(audited, subject)),
});

function moved({ code, name }: Channel, state: 'paused' | 'open', changed: boolean): Result {
  return {
    title: `Channel ${code} (${name}) is ${state} ${changed ? 'now' : ALREADY}`,
    more: { code, name, paused: state === 'paused', changed },
    isDone: changed,
  };
}

/** Operations about a way to move money. */
export const channelOperations = [pause, resume];
