import { runMain } from '../src/lifecycle.ts';
import { checkProduction } from '../src/sandbox/check-production.ts';

await runMain(checkProduction);
