import { runBench } from '../src/bench/main.ts';

process.exit(await runBench(process.argv.slice(2)));
