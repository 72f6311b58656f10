import type { ChannelRoute } from '../../domain/channels/channel.ts';
import { Refusal } from '../../domain/errors.ts';
import { parseAmount } from '../../domain/money.ts';

/**
 * How a payment of a checked amount goes over a channel.
 * @throws Refusal `channel_not_available` (it has no driver), `invalid_amount` (one that
 * the channel cannot carry)
 */
export function carriedBy(
  channels: ReadonlyMap<number, ChannelRoute>,
  channel: number,
  amount: unknown,
): { channel: number; gateway: string; amount_cents: number } {
  const route = channels.get(channel);
  if (!route) throw new Refusal('channel_not_available', String(channel));
  const amount_cents = parseAmount(amount)!;
  if (amount_cents % route.amountStepCents !== 0) throw new Refusal('invalid_amount');
  return { channel, gateway: route.gateway, amount_cents };
}
