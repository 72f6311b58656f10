import { runBench } from './bench/main.ts';

process.exit(await runBench(process.argv.slice(2)));
