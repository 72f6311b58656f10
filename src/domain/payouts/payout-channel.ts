import { type Channel, channelByCode, channelOfPhone } from '../channels/channel.ts';
import { Refusal } from '../errors.ts';
import { isKenyanMobile } from '../text.ts';

/** The longest account numbers are international ones. */
const BANK_ACCOUNT = /^[A-Za-z0-9]{5,34}$/;
/** Kenyan mobile numbers without the plus. They are account numbers only if a bank is named. */
const PHONE_WITHOUT_PLUS = /^(07\d{8}|254[17]\d{8})$/;

/**
 * Returns the problem of a payout's recipient with the channel that the caller named, or null
 * when it is a phone or a bank account.
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
 * Returns the channel of a payout whose recipient is right. The caller's word wins, since
 * numbers are portable. Otherwise the phone's carrier decides.
 * @throws Refusal `channel_required` (a bank account), `invalid_channel` (unknown, or not
 * for this kind of recipient)
 */
export function channelOfPayout(payto: string, channelCode: number | undefined): Channel {
  const code = channelCode ?? (isPhone(payto) ? channelOfPhone(payto) : null);
  if (code === null) throw new Refusal('channel_required');
  const channel = channelByCode(code);
  if (channel?.type !== (isPhone(payto) ? 'Mobile Money' : 'Bank')) {
    throw new Refusal('invalid_channel', String(code));
  }
  return channel;
}

function isPhone(payto: string): boolean {
  return payto.startsWith('+');
}
