import { channelByCode } from '../../domain/channels/channel.ts';
import { formatAmount } from '../../domain/money.ts';
import type { Payout } from '../../domain/payments/payout.ts';
import { formatDateTime } from './date-time.ts';
import { deprecatedStatus, outcome } from './outcome.ts';

/** The record of a payout that was just initiated. */
export function payoutRecord(payout: Payout) {
  return {
    ...core(payout),
    ...channelFields(payout),
    created_at: formatDateTime(payout.created_at),
  };
}

/** The record with all that is known of the outcome. */
export function payoutDetail(payout: Payout) {
  return {
    ...core(payout),
    created_at: formatDateTime(payout.created_at),
    ...outcome(payout),
    ...channelFields(payout),
    narration: payout.narration,
    fee: formatAmount(payout.fee_cents),
  };
}

/** The record in the deprecated list. */
export function listedPayout(payout: Payout) {
  return {
    ...core(payout),
    status: deprecatedStatus(payout),
    created_at: formatDateTime(payout.created_at),
  };
}

function core(payout: Payout) {
  return {
    id: payout.id,
    payto: payout.payto,
    amount: formatAmount(payout.amount_cents),
    ref_no: payout.ref_no,
    status: payout.status,
    category: payout.category,
  };
}

function channelFields({ channel: code }: Payout) {
  const channel = channelByCode(code);
  return { channel: code, channel_name: channel!.name, channel_type: channel!.type };
}
