import { CHEAP_N } from './cheap-passwords.ts';

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
  const bootService = (environment: NodeJS.ProcessEnv) => boot('admin', environment);
  const { failureOf } = await import('../../src/admin/failure.ts');
  const { loadNouns } = await import('../../src/admin/nouns.ts');
  const { readCommandLine } = await import('../../src/admin/program.ts');
  const { perform } = await import('../../src/admin/perform.ts');
  const nouns = await loadNouns();
  return { runAdmin, bootService, failureOf, readCommandLine, perform, nouns };
}
