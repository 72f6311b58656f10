import type { Channel, ChannelRoute } from '../../domain/channels/channel.ts';
import { formatAmount, MAX_AMOUNT_CENTS, MIN_AMOUNT_CENTS } from '../../domain/money.ts';

/** A channel, with its driver's route if it has a driver. */
export function channelRecord(
  { code, name, type }: Channel,
  route: ChannelRoute | undefined,
  isPaused: boolean,
) {
  return {
    code,
    name,
    type,
    active: route !== undefined && !isPaused,
    min_amount: formatAmount(MIN_AMOUNT_CENTS),
    max_amount: formatAmount(MAX_AMOUNT_CENTS),
    whole_shillings: (route?.amountStepCents ?? 1) % 100 === 0,
  };
}
