import { expect } from 'chai';
import { Refusal } from '../../../src/domain/errors.ts';
import { channelOfPayout, paytoProblem } from '../../../src/domain/payouts/create-payout.ts';

const MPESA = 63902;
const AIRTEL = 63903;
const TKASH = 63907;
const EQUITY = 68;
const NO_PHONE = 'Invalid phone number';
const NO_PAYTO = 'Invalid payto';
const NEEDED = 'channel_required';

/** To whom, over which channel if the caller says so, and the channel or the refusal that it gives. */
const CASES: [payto: string, code: number | undefined, gives: number | string][] = [
  // Phones go to their carrier, or where the caller says.
  ['+254712345678', undefined, MPESA],
  ['+254110123456', undefined, MPESA],
  ['+254733123456', undefined, AIRTEL],
  ['+254770123456', undefined, TKASH],
  ['+254712345678', AIRTEL, AIRTEL],
  ['+254733123456', MPESA, MPESA],
  ['+254712345678', EQUITY, 'invalid_channel: 68'],
  ['+254712345678', 99, 'invalid_channel: 99'],
  ['+254712345678', 0, 'invalid_channel: 0'],
  ['+254712345678', -1, 'invalid_channel: -1'],
  ['+25471234567', undefined, NO_PHONE],
  ['+25471234567', EQUITY, NO_PHONE],
  ['+', MPESA, NO_PHONE],
  // A carrier without channel.
  ['+254747123456', undefined, NO_PHONE],
  ['+254747123456', MPESA, MPESA],
  // Bank accounts need a bank.
  ['0110123456789', EQUITY, EQUITY],
  ['GB29NWBK60161331926819', EQUITY, EQUITY],
  ['12345', EQUITY, EQUITY],
  ['x'.repeat(34), EQUITY, EQUITY],
  ['0110123456789', undefined, NEEDED],
  ['0110123456789', MPESA, 'invalid_channel: 63902'],
  ['0110123456789', 99, 'invalid_channel: 99'],
  ['1234', EQUITY, NO_PAYTO],
  ['x'.repeat(35), EQUITY, NO_PAYTO],
  ['0110-123456', undefined, NO_PAYTO],
  ['', EQUITY, NO_PAYTO],
  // A phone in another form, unless a bank says that it is an account.
  ['0712345678', undefined, NO_PHONE],
  ['0712345678', MPESA, NO_PHONE],
  ['0712345678', EQUITY, EQUITY],
  ['0712345678', 99, 'invalid_channel: 99'],
  ['254712345678', undefined, NO_PHONE],
  ['254112345678', AIRTEL, NO_PHONE],
  ['254712345678', EQUITY, EQUITY],
  ['071234567', undefined, NEEDED],
  ['07123456789', undefined, NEEDED],
  ['254202345678', undefined, NEEDED],
  ['2547123456789', undefined, NEEDED],
];

describe('The channel of a payout', () => {
  for (const [payto, code, gives] of CASES) {
    it(`to ${payto} over ${code ?? 'no channel'} is ${gives}`, () => {
      expect(outcomeOf(payto, code)).to.equal(gives);
    });
  }
});

function outcomeOf(payto: string, code: number | undefined): number | string {
  const problem = paytoProblem(payto, code);
  if (problem) return problem === 'invalid_field' ? NO_PAYTO : NO_PHONE;
  try {
    return channelOfPayout(payto, code).code;
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
}
