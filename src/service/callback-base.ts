import { type Database, firstRow, hasRow } from '../connections/database.ts';
import { IS_OTHER_DATABASE } from '../domain/upkeep/other-database.ts';
import type { Config } from '../process/config.ts';
import type { Logger } from '../process/logger.ts';
import { atMostEvery } from '../time.ts';

/** The database is asked no more often than this, however many payments go out. */
const MAX_AGE_MS = 1_000;

export const CALLBACK_BASE_UNKNOWN =
  'nothing is submitted, because no address for callbacks is known: start a web process, or set PUBLIC_URL';

/** Nothing may be submitted: nobody would hear how it ends. It passes without an operator. */
export class CallbackBaseUnknownError extends Error {
  constructor() {
    super(CALLBACK_BASE_UNKNOWN);
    this.name = 'CallbackBaseUnknownError';
  }
}

export type CallbackBase = ReturnType<typeof createCallbackBase>;

/**
 * The address at which gateways reach the API: the setting, or else the address that the web process
 * has recorded. No process derives it from its own port, because only the web process listens there.
 */
export function createCallbackBase(
  { gatewayCallbackUrl }: Pick<Config, 'gatewayCallbackUrl'>,
  database: Database,
  logger: Logger,
) {
  let recorded: Promise<string | null>;
  const refresh = atMostEvery(MAX_AGE_MS, async () => {
    recorded = findCallbackBase(database);
    await recorded.catch(() => {});
  });
  const find = async (): Promise<string | null> => {
    if (gatewayCallbackUrl !== null) return gatewayCallbackUrl;
    await refresh();
    return recorded;
  };
  let isUnknown = false;
  return {
    /** Returns null while nobody knows it. @throws an outage of the database */
    find,
    /**
     * Logs when it is not known, and when it is known again: a line each, however many payments
     * wait.
     * @throws CallbackBaseUnknownError, or an outage of the database
     */
    require: async (): Promise<string> => {
      const url = await find();
      if (url === null && !isUnknown) logger.warn(CALLBACK_BASE_UNKNOWN);
      if (url !== null && isUnknown) logger.info('the address for callbacks is known', { url });
      isUnknown = url === null;
      if (url === null) throw new CallbackBaseUnknownError();
      return url;
    },
  };
}

/**
 * Records where gateways reach the web process that starts. Any web process takes any callback. So
 * of several, the one that started last gets them, which does not matter behind one address.
 * @returns whether it was another address before.
 */
export async function recordCallbackBase(database: Database, url: string): Promise<boolean> {
  return hasRow(
    database,
    `UPDATE installation SET gateway_callback_url = :url
     WHERE gateway_callback_url IS DISTINCT FROM :url RETURNING id`,
    { url },
  );
}

/**
 * Finds what a web process has recorded.
 * @returns null before the first one has started; and on a copy of the database, whose payments must
 * not be told of at the address of the original.
 */
export async function findCallbackBase(database: Database): Promise<string | null> {
  const found = await firstRow<{ url: string | null }>(
    database,
    `SELECT gateway_callback_url AS url FROM installation WHERE NOT ${IS_OTHER_DATABASE}`,
  );
  return found?.url ?? null;
}
