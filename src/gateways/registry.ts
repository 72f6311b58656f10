import { type ChannelRoute, GatewayGoneError } from '../domain/channels/channel.ts';
import type { TokenStore } from '../domain/gateway-accounts/access-token.ts';
import type { ParserOf } from '../domain/gateway-results.ts';
import type { Config } from '../process/config.ts';
import { BootError } from '../process/lifecycle.ts';
import { createDarajaDriver } from './daraja/daraja-driver.ts';
import type { AccountTools, Gateway, InitiatedKind } from './gateway.ts';
import { createSimulatorGateway } from './simulator-driver/simulator-gateway.ts';

/** The accounts with providers, by name. */
export type Gateways = ReadonlyMap<string, Gateway>;

/** A driver with the accounts that it is configured with. */
export interface Driver {
  gateways: readonly Gateway[];
  /** What operators do with its accounts besides payments. */
  tools?: ReadonlyMap<string, AccountTools>;
  /** The account that carries new payments of each kind. */
  routes: Readonly<Partial<Record<InitiatedKind, string>>>;
}

/** The drivers by name. */
export type Drivers = ReadonlyMap<string, Driver>;

/** What drivers need besides the configuration. */
export interface DriverStores {
  tokens: TokenStore;
}

type Build = (config: Config, stores: DriverStores) => Driver;

/** Every driver. A new one is added here and nowhere else. */
const DRIVERS: Readonly<Record<string, Build>> = {
  daraja: createDarajaDriver,
  simulator: (config) => {
    const gateway = createSimulatorGateway({
      baseUrl: config.simulatorUrl,
      timeoutMs: config.gatewayTimeoutMs,
      settlingWindowMs: config.simulatorSettlingWindowMs,
    });
    return { gateways: [gateway], routes: { collection: gateway.name, payout: gateway.name } };
  },
};

/**
 * Builds the drivers that channels are configured with, and Daraja's whenever it is configured:
 * payments of earlier days are asked about when no channel names it any more.
 * @throws BootError for an unknown one
 */
export function createDrivers(config: Config, stores: DriverStores): Drivers {
  const drivers = new Map<string, Driver>();
  for (const name of new Set([...config.channels.values(), ...(config.daraja ? ['daraja'] : [])])) {
    const build = DRIVERS[name];
    if (!build) {
      const known = Object.keys(DRIVERS).join(', ');
      throw new BootError(`CHANNELS names the driver ${name}; there is only ${known}`);
    }
    drivers.set(name, build(config, stores));
  }
  return drivers;
}

/** Returns what the API must know of each channel to accept a payment. */
export function channelRoutes(
  config: Pick<Config, 'channels'>,
  drivers: Drivers,
): ReadonlyMap<number, ChannelRoute> {
  const routes = [...config.channels].map(([code, name]): [number, ChannelRoute] => [
    code,
    routeOf(drivers.get(name)!),
  ]);
  return new Map(routes);
}

function routeOf({ gateways, routes }: Driver): ChannelRoute {
  const carried = Object.entries(routes).map(([kind, name]) => {
    const amounts = gateways.find((each) => each.name === name)?.amounts[kind as InitiatedKind];
    if (!amounts) throw new Error(`The account ${name} carries no ${kind}`);
    return [kind, { gateway: name, amounts }];
  });
  return Object.fromEntries(carried);
}

/** Returns how the domain reads the callbacks of a gateway. */
export function parserOf(gateways: Gateways): ParserOf {
  return (name) => gatewayNamed(gateways, name).parseCallback;
}

/** @throws GatewayGoneError when a payment's account is not configured any more */
export function gatewayNamed(gateways: Gateways, name: string): Gateway {
  const gateway = gateways.get(name);
  if (!gateway) throw new GatewayGoneError(name);
  return gateway;
}
