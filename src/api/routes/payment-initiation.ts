import { isPortAllowed } from '../../domain/callback-url.ts';
import type { ChannelRoute } from '../../domain/channels/channel.ts';
import { Refusal } from '../../domain/errors.ts';
import { parseAmount } from '../../domain/money.ts';
import type { Config } from '../../process/config.ts';

/**
 * Returns the callback URL of a valid body.
 * @throws Refusal when it must be https and is not, or when its port is not among WEBHOOK_PORTS
 */
export function callbackUrlIn(
  { requireHttps, webhookPorts }: Config,
  body: Record<string, unknown>,
): string {
  const callbackUrl = String(body.callback_url);
  const url = new URL(callbackUrl);
  const isPlain = requireHttps && url.protocol !== 'https:';
  if (isPlain || !isPortAllowed(url, webhookPorts)) {
    throw new Refusal('invalid_field', 'callback_url');
  }
  return callbackUrl;
}

/**
 * Finds the gateway that carries a valid amount over a channel.
 * @throws Refusal `channel_not_available` when the channel has no driver for this kind, and
 * `amount_not_whole`, `amount_below_channel`, `amount_above_channel` by the channel's rules
 */
export function gatewayFor(
  channels: ReadonlyMap<number, ChannelRoute>,
  kind: 'collection' | 'payout',
  channel: number,
  amount: unknown,
): { channel: number; gateway: string; amount_cents: number } {
  const route = channels.get(channel)?.[kind];
  if (!route) throw new Refusal('channel_not_available', String(channel));
  const amount_cents = parseAmount(amount)!;
  const { minCents, maxCents, stepCents } = route.amounts;
  if (amount_cents < minCents) throw new Refusal('amount_below_channel');
  if (amount_cents > maxCents) throw new Refusal('amount_above_channel');
  if (amount_cents % stepCents !== 0) throw new Refusal('amount_not_whole');
  return { channel, gateway: route.gateway, amount_cents };
}
