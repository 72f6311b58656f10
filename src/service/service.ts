import type { Database } from '../connections/database.ts';
import { createTokenStore } from '../domain/gateway-accounts/token-store.ts';
import { createMerchantNames } from '../domain/merchants/merchant.ts';
import {
  callbackAnswerFor,
  channelRoutes,
  createDrivers,
  DRIVERS,
  parserOf,
} from '../gateways/registry.ts';
import { createDoorbell } from '../jobs/bell.ts';
import { createMeters, measuredGateway } from '../metrics/meters.ts';
import { openAgeFiles } from '../process/age-files.ts';
import { type Config, readConfig } from '../process/config.ts';
import type { Logger } from '../process/logger.ts';
import { settingsWith } from '../process/settings.ts';
import { createCallbackBase } from './callback-base.ts';
import type { Comparisons } from './comparisons.ts';

/**
 * Reads the configuration of the service.
 * @throws ConfigError that lists every bad variable at once
 */
export function loadConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  return readConfig(environment, DRIVERS);
}

/**
 * Reads the configuration of the service, also from files of secrets that age has encrypted.
 * @throws ConfigError, and BootError when such a file cannot be opened
 */
export async function openConfig(environment: NodeJS.ProcessEnv = process.env): Promise<Config> {
  return loadConfig(await openAgeFiles(environment, settingsWith(DRIVERS)));
}

/** The parts that every process of the service works with. */
export type Service = ReturnType<typeof createService> & {
  /** Comparisons of statements that run in the background. Only the console has them. */
  comparisons?: Comparisons;
};

/**
 * Puts the parts of a process together. Opens no connection.
 * @throws BootError when a channel names a driver that does not exist
 */
export function createService(config: Config, logger: Logger, database: Database) {
  const meters = createMeters();
  const tokens = createTokenStore(database, config.secretsKeys);
  const drivers = createDrivers(config, tokens);
  const accounts = [...drivers.values()].flatMap((driver) => driver.gateways);
  const gateways = new Map(
    accounts.map((gateway) => [gateway.name, measuredGateway(gateway, meters)]),
  );
  // Channels that have a driver, by code.
  const channels = channelRoutes(config, drivers);
  const callbackBase = createCallbackBase(config, database, logger);
  const merchantName = createMerchantNames(database);
  // A process that has queues connects it. A command is over before anybody would wait.
  const bell = createDoorbell();
  return {
    bell,
    config,
    logger,
    database,
    meters,
    gateways,
    drivers,
    channels,
    callbackBase,
    callbackAnswerFor,
    parserOf: parserOf(gateways),
    merchantName,
  };
}
