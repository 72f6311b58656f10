import { SUCCESS } from '../behaviours.ts';
import { BAD_TOKEN } from '../error-bodies.ts';
import * as fields from '../fields.ts';
import { INITIATOR_FIELDS, textOf } from '../fields.ts';
import { GENERIC_RECEIPT } from '../messages/result.ts';
import { formatShillings } from '../money.ts';
import { compactTime } from '../nairobi-time.ts';
import type { Product } from '../product.ts';
import { answerLater } from './initiator-requests.ts';

const MAX_NAME_LENGTH = 128;
const CHARGES_PAID_CENTS = 0;

/** Asks what a shortcode's accounts hold. */
export const accountBalance: Product = {
  path: '/mpesa/accountbalance/v1/query',
  badToken: BAD_TOKEN.accountBalance,
  fields: [
    ['Initiator', fields.text(1, MAX_NAME_LENGTH)],
    INITIATOR_FIELDS.credential,
    ['CommandID', fields.oneOf('AccountBalance')],
    ['PartyA', fields.shortCode],
    ['IdentifierType', fields.oneOf('2', '4')],
    INITIATOR_FIELDS.remarks,
    INITIATOR_FIELDS.timeoutUrl,
    INITIATOR_FIELDS.resultUrl,
  ],
  handle(world, body, res) {
    answerLater(world, body, res, () => ({
      outcome: SUCCESS,
      transactionId: GENERIC_RECEIPT,
      parameters: [
        ['AccountBalance', balances(world.floats.balanceOf(textOf(body.PartyA)))],
        ['BOCompletedTime', Number(compactTime(new Date()))],
      ],
    }));
  },
};

/** Name, currency, current, available, reserved and uncleared of each account. */
function balances(utilityCents: number): string {
  const accounts = {
    'Working Account': 0,
    'Utility Account': utilityCents,
    'Charges Paid Account': CHARGES_PAID_CENTS,
    'Organization Settlement Account': 0,
  };
  return Object.entries(accounts)
    .map(([name, cents]) => [name, formatShillings(cents)])
    .map(([name, shillings]) => `${name}|KES|${shillings}|${shillings}|0.00|0.00`)
    .join('&');
}
