import { type ChannelRoute, GatewayGoneError } from '../domain/channels/channel.ts';
import type { ParserOf } from '../domain/gateway-results.ts';
import type { Config } from '../process/config.ts';
import { BootError } from '../process/lifecycle.ts';
import type { Gateway } from './gateway.ts';
import { createSimulatorGateway } from './simulator-driver/simulator-gateway.ts';

/** The configured drivers by name. */
export type Gateways = ReadonlyMap<string, Gateway>;

/** All drivers. A new driver is added here and nowhere else. */
const DRIVERS: Readonly<Record<string, (config: Config) => Gateway>> = {
  simulator: (config) =>
    createSimulatorGateway({
      baseUrl: config.simulatorUrl,
      timeoutMs: config.gatewayTimeoutMs,
      settlingWindowMs: config.simulatorSettlingWindowMs,
    }),
};

/** Builds the drivers that channels are configured with. @throws BootError for an unknown one */
export function createGateways(config: Config): Gateways {
  const gateways = new Map<string, Gateway>();
  for (const name of new Set(config.channels.values())) {
    const build = DRIVERS[name];
    if (!build) {
      const known = Object.keys(DRIVERS).join(', ');
      throw new BootError(`CHANNELS names the driver ${name}; there is only ${known}`);
    }
    gateways.set(name, build(config));
  }
  return gateways;
}

/** Returns what the API must know of each channel's driver to accept a payment. */
export function channelRoutes(
  config: Config,
  gateways: Gateways,
): ReadonlyMap<number, ChannelRoute> {
  const routes = [...config.channels].map(([code, name]): [number, ChannelRoute] => {
    const { amountStepCents } = gatewayNamed(gateways, name);
    return [code, { gateway: name, amountStepCents }];
  });
  return new Map(routes);
}

/** Returns how the domain reads the callbacks of a gateway. */
export function parserOf(gateways: Gateways): ParserOf {
  return (name) => {
    const gateway = gatewayNamed(gateways, name);
    return (body) => gateway.parseCallback(body);
  };
}

/** @throws GatewayGoneError when no channel is configured with a payment's driver any more */
export function gatewayNamed(gateways: Gateways, name: string): Gateway {
  const gateway = gateways.get(name);
  if (!gateway) throw new GatewayGoneError(name);
  return gateway;
}
