import type { Channel } from '../../domain/channels/channel.ts';
import {
  channelPauses,
  PAUSABLE,
  pauseAudited,
  resumeAudited,
} from '../../domain/channels/channel-store.ts';
import { OperatorRefusal } from '../../domain/errors.ts';
import { pathTo } from '../routes.ts';
import type { Action, Given, Resource } from '../shell/action.ts';
import { ChoiceFilter } from '../shell/filters.tsx';
import { wordIn } from '../shell/read-fields.ts';
import { channelIn } from './query.ts';

/** Channels are nobody's data, so no read is recorded. */
export const CHANNEL: Resource<Channel> = {
  find: async (visit) => channelIn(visit),
  nameOf: ({ code, name }) => `${name} (${code})`,
  pathOf: () => pathTo('channels'),
};

/** Stops what a channel carries, or a part of it. */
export const pause: Action<Channel> = {
  ...{ action: 'channel.pause', title: 'Pause a channel', verb: 'Pause', carried: ['only'] },
  preview: async ({ service }, { code, name }, given) => {
    const only = onlyIn(given);
    const paused = (await channelPauses(service.database)).get(code);
    if (paused && (paused.what === null || (only && paused.what.includes(only)))) {
      throw new OperatorRefusal(`As much of channel ${code} (${name}) is paused already`);
    }
    return [
      `${only === null ? 'New payments' : WHAT[only]} of channel ${code} (${name}) are refused: merchants get 503 and can ask again.`,
      'Those that wait are kept and not sent, until somebody resumes the channel.',
      'What was sent goes on: gateways are asked, callbacks are taken, and payments end.',
    ];
  },
  perform: async (visit, channel, { audited }) => {
    const hasChanged = await pauseAudited(audited, channel, onlyIn(visit.form));
    if (!hasChanged) throw new OperatorRefusal('As much of it was paused already');
  },
  choices: ({ code }, given) => (
    <form class="card filters" method="get" action={pathTo('channelPauseForm', { code })}>
      <ChoiceFilter
        {...{ name: 'only', label: 'What to pause', query: given, choices: PAUSABLE }}
        all="everything"
      />
      <p class="buttons">
        <button type="submit" class="quiet">
          Show what happens
        </button>
      </p>
    </form>
  ),
};

const WHAT = {
  payouts: 'New payouts',
  reversals: 'New reversals and returns to customers',
} as const;

function onlyIn(given: Given) {
  return wordIn(given, 'only', PAUSABLE) ?? null;
}

/** Lets a paused channel go on. */
export const resume: Action<Channel> = {
  ...{ action: 'channel.resume', title: 'Resume a channel', verb: 'Resume' },
  preview: async ({ service }, { code, name }) => {
    const paused = (await channelPauses(service.database)).get(code);
    if (!paused) throw new OperatorRefusal(`Channel ${code} (${name}) is not paused`);
    return [
      `Channel ${code} (${name}) takes new payments again.`,
      'Payments that have waited are sent, each once, under the reference that they have.',
      'Its troubles are forgotten: three new ones in a row pause it again.',
    ];
  },
  perform: async (_visit, channel, { audited }) => {
    if (!(await resumeAudited(audited, channel))) {
      throw new OperatorRefusal('It was resumed already');
    }
  },
};
