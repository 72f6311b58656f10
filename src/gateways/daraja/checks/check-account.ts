import type { CheckAddresses, Finding } from '../../gateway.ts';
import { accountOf, type DarajaOptions } from '../daraja-gateway.ts';
import { checkCallbacks } from './callbacks.ts';
import { checkConfiguration } from './configuration.ts';
import { checkHost } from './host.ts';
import { checkProducts } from './products.ts';

/** Looks at everything that a shortcode needs, without moving money. */
export async function checkAccount(
  options: DarajaOptions,
  addresses: CheckAddresses | null,
): Promise<Finding[]> {
  const { config } = options;
  const account = accountOf(options);
  const host = await checkHost(config.baseUrl);
  // Without the host every question would fail in the same way.
  const isReached = host.every(({ about, state }) => about !== 'host' || state === 'ok');
  return [
    ...checkConfiguration(config, account.settings),
    ...host,
    ...(await checkCallbacks(config.baseUrl, addresses)),
    ...(isReached ? await checkProducts(account, addresses) : []),
  ];
}
