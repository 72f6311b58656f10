import { defaultPoolMax } from '../connections/connection-budget.ts';
import { type Database, openDatabase } from '../connections/database.ts';
import { databaseProblem } from '../connections/database-fault.ts';
import { databaseWarnings } from '../connections/database-warnings.ts';
import { schemaProblem } from '../connections/migrations.ts';
import { redisCondition } from '../connections/redis-condition.ts';
import { roleDefaultsProblem } from '../connections/role-defaults.ts';
import { createTokenStore } from '../domain/gateway-accounts/token-store.ts';
import { createMerchantNames } from '../domain/merchants/merchant-names.ts';
import { noteDatabase } from '../domain/upkeep/other-database.ts';
import { channelRoutes, createDrivers, parserOf } from '../gateways/registry.ts';
import { measuredGateway } from '../metrics/measured-gateway.ts';
import { createMeters } from '../metrics/meters.ts';
import { createCallbackBase } from './callback-base.ts';
import { type Config, loadConfig } from './config.ts';
import { BootError } from './lifecycle.ts';
import { createLogger, type Logger } from './logger.ts';

/** The parts that every process of the service works with. */
export type Service = ReturnType<typeof createService>;

/**
 * Starts a process: reads the configuration, connects, and refuses a database that is
 * missing, too old, read-only or not migrated, each with one line that says what to do.
 * @throws ConfigError, BootError
 */
export async function boot(
  processName: string,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<Service> {
  const config = loadConfig(environment);
  const logger = createLogger(config.logLevel, processName);
  const poolMax = config.databasePoolMax ?? defaultPoolMax(processName);
  const database = openDatabase(config, poolMax, `malipo-${processName}`);
  const isCommand = processName === 'admin';
  const problem =
    // Commands that only read are needed most while nothing can be written.
    (await databaseProblem(database, isCommand ? 'read' : 'write')) ??
    (await schemaProblem(database)) ??
    (config.databasePooling === 'transaction' ? await roleDefaultsProblem(database) : null);
  if (problem) throw new BootError(problem);
  // A command prints only its own output.
  if (!isCommand) await warnOfStores(config, logger, database, processName);
  return createService(config, logger, database);
}

async function warnOfStores(
  config: Config,
  logger: Logger,
  database: Database,
  processName: string,
): Promise<void> {
  for (const line of await databaseWarnings(database, config, processName)) logger.warn(line);
  const otherDatabase = await noteDatabase(database);
  if (otherDatabase) logger.warn(otherDatabase);
  if (!config.redisUrl) return;
  // Nobody waits for it, because requests are accepted without Redis too.
  void redisCondition(config).then(
    ({ problem, warnings }) => {
      for (const line of [problem, ...warnings]) if (line) logger.warn(line);
    },
    // The queues and the rate limiter report that it is away.
    () => {},
  );
}

/**
 * Puts together what a process works with. Connects to nothing.
 * @throws BootError when a channel names a driver that does not exist
 */
export function createService(config: Config, logger: Logger, database: Database) {
  const meters = createMeters();
  const tokens = createTokenStore(database, config.secretsKeys);
  const drivers = createDrivers(config, { tokens });
  const accounts = [...drivers.values()].flatMap((driver) => driver.gateways);
  const gateways = new Map(
    accounts.map((gateway) => [gateway.name, measuredGateway(gateway, meters)]),
  );
  // Channels that have a driver, by code.
  const channels = channelRoutes(config, drivers);
  const callbackBase = createCallbackBase(config, database, logger);
  const merchantName = createMerchantNames(database);
  return {
    ...{ config, logger, database, meters },
    ...{ gateways, drivers, channels, callbackBase, parserOf: parserOf(gateways), merchantName },
  };
}
