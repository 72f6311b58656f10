import { fileURLToPath } from 'node:url';

/** The checkout: what is started is its source, or its build. */
export const ROOT_FOLDER = fileURLToPath(new URL('../../', import.meta.url));

/** The programs of the service, the simulators of gateways, and the sandbox, without the ends of their names. */
export const PROGRAMS = {
  simulator: 'scripts/simulator/main',
  daraja: 'scripts/daraja-simulator/main',
  web: 'src/main/web',
  console: 'src/main/console',
  worker: 'src/main/workers',
  sandbox: 'scripts/sandbox/run',
} as const;
