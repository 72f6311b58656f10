import { runSandbox } from './sandbox/main.ts';

const given = (option: string) => process.argv.includes(option);
process.exit(await runSandbox({ exitAfterwards: given('--exit'), reload: given('--reload') }));
