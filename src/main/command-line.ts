import { runAdmin } from '../admin/run.ts';

// The service is loaded only when a command needs it, so that help comes at once.
const bootService = async (environment: NodeJS.ProcessEnv) =>
  (await import('./boot.ts')).boot('admin', environment);

// So is what speaks to the console.
const askConsole = async (args: string[], url: string) =>
  (await import('../admin/remote/ask.ts')).askConsole(args, url);

const args = process.argv.slice(2);
const { MALIPO_CONSOLE_URL: url } = process.env;
process.exit(await (url ? askConsole(args, url) : runAdmin(args, bootService)));
