import { runSandbox } from '../src/sandbox/main.ts';

process.exit(await runSandbox(process.argv.includes('--exit')));
