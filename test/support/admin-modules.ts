import { openDatabase } from '../../src/connections/database.ts';
import { CHEAP_N } from './cheap-passwords.ts';
import { keptDatabase } from './database.ts';

/** Takes the connections of a test's own database, which stay open when the command has ended. */
const openKept: typeof openDatabase = (address, ...rest) => {
  const url = typeof address === 'string' ? address : address.databaseUrl;
  const kept = isPlain(address) ? keptDatabase(url) : undefined;
  if (!kept) return openDatabase(address, ...rest);
  return new Proxy(kept, {
    get: (target, name) => (name === 'destroy' ? async () => {} : Reflect.get(target, name)),
  });
};

/** Tells whether only the address decides how to connect. */
function isPlain(address: Parameters<typeof openDatabase>[0]): boolean {
  return typeof address === 'string' || address.databasePooling !== 'transaction';
}

/** The parts of the command line, with all nouns. */
export type AdminModules = Awaited<ReturnType<typeof load>>;

let loaded: ReturnType<typeof load> | undefined;

/**
 * Loads the command line as its program does. It loads its nouns by `import()`, which shares no
 * modules with what Mocha requires: an error of the one is no `instanceof` the other's class.
 */
export function loadAdmin(): Promise<AdminModules> {
  loaded ??= load();
  return loaded;
}

async function load() {
  const { PASSWORD_COST } = await import('../../src/domain/credentials/passwords.ts');
  PASSWORD_COST.N = CHEAP_N;
  const { runAdmin } = await import('../../src/admin/run.ts');
  const { boot } = await import('../../src/main/boot.ts');
  const bootService = (environment: NodeJS.ProcessEnv) => boot('admin', environment, openKept);
  const { failureOf } = await import('../../src/admin/failure.ts');
  const { loadNouns } = await import('../../src/admin/nouns.ts');
  const { readCommandLine } = await import('../../src/admin/program.ts');
  const { perform } = await import('../../src/admin/perform.ts');
  const nouns = await loadNouns();
  return { runAdmin, bootService, failureOf, readCommandLine, perform, nouns };
}
