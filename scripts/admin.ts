import { runAdmin } from '../src/admin/main.ts';

process.exit(await runAdmin(process.argv.slice(2)));
