import { runMain } from '../src/process/lifecycle.ts';
import { checkProduction } from './sandbox/check-production.ts';

await runMain(checkProduction);
