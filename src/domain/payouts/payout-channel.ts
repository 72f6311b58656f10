import { type Channel, channelByCode, channelOfPhone } from '../channels/channel.ts';
import { Refusal } from '../errors.ts';
import { isKenyanMobile } from '../phone.ts';

/** As banks write account numbers; the longest are international ones. */
const BANK_ACCOUNT = /^[A-Za-z0-9]{5,34}$/;
/** Kenyan mobile numbers without the plus: no bank's accounts unless the bank is named. */
const PHONE_WITHOUT_PLUS = /^(07\d{8}|254[17]\d{8})$/;

/**
 * What is wrong with the recipient of a payout, seen together with the channel that the
 * caller names, if any; null when it is a phone or a bank account.
 */
export function paytoProblem(
  payto: string,
  channelCode: number | undefined,
): 'invalid_phone_number' | 'invalid_field' | null {
  if (isPhone(payto)) {
    const isPayable =
      isKenyanMobile(payto) && (channelCode !== undefined || channelOfPhone(payto) !== null);
    return isPayable ? null : 'invalid_phone_number';
  }
  const isForPhones =
    channelCode === undefined || channelByCode(channelCode)?.type === 'Mobile Money';
  if (isForPhones && PHONE_WITHOUT_PLUS.test(payto)) return 'invalid_phone_number';
  return BANK_ACCOUNT.test(payto) ? null : 'invalid_field';
}

/**
 * The channel of a payout whose recipient is right: the caller's own word, since numbers
 * are portable, or else that of the phone's carrier.
 * @throws Refusal `channel_required` (a bank account), `channel_invalid` (unknown, or not
 * for this kind of recipient)
 */
export function channelOfPayout(payto: string, channelCode: number | undefined): Channel {
  const code = channelCode ?? (isPhone(payto) ? channelOfPhone(payto) : null);
  if (code === null) throw new Refusal('channel_required');
  const channel = channelByCode(code);
  if (channel?.type !== (isPhone(payto) ? 'Mobile Money' : 'Bank')) {
    throw new Refusal('channel_invalid', String(code));
  }
  return channel;
}

function isPhone(payto: string): boolean {
  return payto.startsWith('+');
}
