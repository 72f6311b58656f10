import type { TokenStore } from '../../domain/gateway-accounts/access-token.ts';
import type { Config } from '../../process/config.ts';
import type { AccountTools, Gateway } from '../gateway.ts';
import { Pace } from '../pace.ts';
import type { Driver } from '../registry.ts';
import { createDarajaClient } from './client.ts';
import type { DarajaShortcode } from './config.ts';
import { createDarajaGateway, nameOf } from './daraja-gateway.ts';
import { createDarajaTools } from './daraja-tools.ts';

/** Creates the driver of all configured shortcodes. Each is an account of its own. */
export function createDarajaDriver(config: Config, { tokens }: { tokens: TokenStore }): Driver {
  const { daraja } = config;
  if (!daraja) throw new Error('DARAJA is not configured');
  const gateways: Gateway[] = [];
  const tools = new Map<string, AccountTools>();
  for (const settings of daraja.shortcodes.values()) {
    const { shortcode } = settings;
    const client = clientOf(config, settings, tokens);
    const options = { shortcode, config: daraja, client, pace: new Pace() };
    const settlingWindowMs = config.darajaSettlingWindowMs;
    const answerWindowMs = config.darajaAnswerWindowMs;
    gateways.push(createDarajaGateway({ ...options, settlingWindowMs, answerWindowMs }));
    tools.set(nameOf(shortcode), createDarajaTools(options));
  }
  const { collections, payouts } = daraja;
  return {
    gateways,
    tools,
    routes: {
      ...(collections !== null && { collection: nameOf(collections) }),
      ...(payouts !== null && { payout: nameOf(payouts) }),
    },
  };
}

function clientOf(
  { daraja, gatewayTimeoutMs }: Config,
  { consumerKey, consumerSecret }: DarajaShortcode,
  tokenStore: TokenStore,
) {
  const { baseUrl } = daraja!;
  return createDarajaClient({
    ...{ baseUrl, consumerKey, consumerSecret, tokenStore },
    timeoutMs: gatewayTimeoutMs,
  });
}
