import { type ChannelRoute, GatewayGoneError } from '../domain/channels/channel.ts';
import type { TokenStore } from '../domain/gateway-accounts/access-token.ts';
import type { ParserOf } from '../domain/gateway-results.ts';
import type { Config } from '../process/config.ts';
import { BootError } from '../process/lifecycle.ts';
import { daraja } from './daraja/driver.ts';
import { type CallbackAnswer, type Driver, type DriverDefinition, settingsOf } from './driver.ts';
import type { Gateway, InitiatedKind } from './gateway.ts';
import { simulator } from './simulator/driver.ts';

/** Every driver. This list is the only place that names a new driver. */
export const DRIVERS: readonly DriverDefinition[] = [daraja, simulator];

/** The accounts with providers, by name. */
export type Gateways = ReadonlyMap<string, Gateway>;

/** The drivers by name. */
export type Drivers = ReadonlyMap<string, Driver>;

/**
 * Builds the drivers that channels name, and every other driver that is configured: the service
 * still asks about earlier payments when no channel names their driver any more.
 * @throws BootError if a channel names an unknown driver
 */
export function createDrivers(config: Config, tokens: TokenStore): Drivers {
  const configured = DRIVERS.filter((driver) => driver.isConfigured?.(settingsOf(driver, config)));
  const names = new Set([...config.channels.values(), ...configured.map(({ name }) => name)]);
  const parts = { tokens, timeoutMs: config.gatewayTimeoutMs };
  return new Map(
    [...names].map((name) => {
      const driver = driverNamed(name);
      return [name, driver.create(settingsOf(driver, config), parts)];
    }),
  );
}

function driverNamed(name: string): DriverDefinition {
  const driver = DRIVERS.find((each) => each.name === name);
  if (driver) return driver;
  const known = DRIVERS.map((each) => each.name).join(', ');
  throw new BootError(`CHANNELS names the driver ${name}; there is only ${known}`);
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

const PLAIN_ANSWER: CallbackAnswer = { status: 200, body: {} };

/**
 * Returns the answer to a callback for an account. The configuration may lack the account, so this
 * finds the driver by the account's name.
 */
export function callbackAnswerFor(account: string): CallbackAnswer {
  const driver = DRIVERS.find(({ name }) => account === name || account.startsWith(`${name}-`));
  return driver?.callbackAnswer ?? PLAIN_ANSWER;
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
