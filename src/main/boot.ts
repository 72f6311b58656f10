import { defaultPoolMax } from '../connections/connection-budget.ts';
import { type Database, openDatabase } from '../connections/database.ts';
import { databaseWarnings } from '../connections/database-warnings.ts';
import { roleDefaultsProblem, schemaProblem } from '../connections/migrations.ts';
import { databaseProblem } from '../connections/readiness.ts';
import { redisCondition } from '../connections/redis.ts';
import { staffWarning } from '../domain/staff/staff.ts';
import { noteDatabase } from '../domain/upkeep/other-database.ts';
import type { Config } from '../process/config.ts';
import { BootError, type Closable } from '../process/lifecycle.ts';
import { createLogger, type Logger } from '../process/logger.ts';
import { createService, openConfig, type Service } from '../service/service.ts';

/** The parts of a process, and what sends the rest of its traces when it stops. */
type Booted = Service & { traces: Closable[] };

/**
 * Starts a process: reads the configuration, connects, and refuses a database that is
 * missing, too old, read-only or not migrated, each with one line that says what to do.
 * @throws ConfigError, BootError
 */
export async function boot(
  processName: string,
  environment: NodeJS.ProcessEnv = process.env,
  open = openDatabase,
): Promise<Booted> {
  const config = await openConfig(environment);
  const logger = createLogger(config.logLevel, processName, config.logSamplePercent);
  const poolMax = config.databasePoolMax ?? defaultPoolMax(processName);
  const database = open(config, poolMax, `malipo-${processName}`);
  const isCommand = processName === 'admin';
  const problem =
    // Commands that only read are needed most while nothing can be written.
    (await databaseProblem(database, isCommand ? 'read' : 'write')) ??
    (await schemaProblem(database)) ??
    (config.databasePooling === 'transaction' ? await roleDefaultsProblem(database) : null);
  if (problem) throw new BootError(problem);
  const service = createService(config, logger, database);
  // A command prints only its own output.
  if (!isCommand) await warnOfStores(config, logger, database, processName);
  return { ...service, traces: isCommand ? [] : await startTraces(service, processName) };
}

/** Loads what sends traces only if there is somewhere to send them. */
async function startTraces({ config, logger }: Service, processName: string): Promise<Closable[]> {
  const { otelExporterOtlpEndpoint: collector, traceSamplePercent } = config;
  if (!collector) return [];
  const { startExport } = await import('../tracing/export.ts');
  return [startExport(collector, traceSamplePercent, processName, logger)];
}

async function warnOfStores(
  config: Config,
  logger: Logger,
  database: Database,
  processName: string,
): Promise<void> {
  const warnings = await databaseWarnings(database, config, processName);
  for (const line of [...warnings, await staffWarning(database, config)]) {
    if (line) logger.warn(line);
  }
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
