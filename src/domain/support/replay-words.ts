import type { ReplayAction, ReplayRefusal } from './decide-replay.ts';

/** What a replay does, for people. */
export const REPLAY_WORDS: Readonly<Record<ReplayAction, string>> = {
  send: 'no attempt has arrived, will send it',
  report_untaken:
    'no attempt has arrived and its deadline is past, will not send it: support decides',
  ask: 'the gateway has it, will ask how it ended',
  ask_not_send: 'an attempt may have arrived, will ask the gateway, not send',
  refund: 'will refund',
  apply: 'will be applied',
  deliver: 'will deliver again',
};

/** Why there is no replay, for people. */
export const REPLAY_REFUSAL_WORDS: Readonly<Record<ReplayRefusal, string>> = {
  replayed: 'somebody has replayed it already',
  gone: 'its row is not there any more',
  ended: 'its payment, callback or webhook is final',
  moved_on: 'it has moved on meanwhile',
  failed_since: 'a later job of it has failed: replay that one',
  parked_otherwise: 'it waits for another reason',
  discrepancy: 'a discrepancy is open: decide that first',
};
