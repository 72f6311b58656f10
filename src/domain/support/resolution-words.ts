import type { Resolution } from './resolution.ts';

/** What each decision about a discrepancy says, for people. */
export const RESOLUTION_WORDS: Readonly<Record<Resolution, string>> = {
  completed: 'The payment is complete',
  'accept-amount': 'The payment is complete, with the amount that moved',
  failed:
    'The payment has failed, and a payout goes back into the wallet. What went out all the same is our loss',
  returned: 'The money goes back, or has come back',
  same: 'It is the money that completed the payment, under its right receipt',
  undo: 'The payment did not complete after all, or its money has come back',
  dismissed: 'There is nothing to do',
};
