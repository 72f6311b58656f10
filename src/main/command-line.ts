import { runAdmin } from '../admin/run.ts';

// The service is loaded only when a command needs it, so that help comes at once.
const bootService = async (environment: NodeJS.ProcessEnv) =>
  (await import('./boot.ts')).boot('admin', environment);

process.exit(await runAdmin(process.argv.slice(2), bootService));
