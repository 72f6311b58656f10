import { join } from 'node:path';
import { bundlePrograms } from './bundle.ts';
import { PROGRAMS } from './programs.ts';
import { openRunFolder, SANDBOX_FOLDER } from './run-folder.ts';
import type { MpesaGateway } from './start.ts';

/** The first thing that the sandbox says: which gateway it shows. */
const INTRODUCTIONS: Readonly<Record<MpesaGateway, string>> = {
  simulator: 'with a simulated gateway of our own behind every channel',
  daraja: "with a simulator of Safaricom's Daraja behind M-PESA",
};

const words = process.argv.slice(2);
const KNOWN = ['--exit', '--reload', '--mpesa=daraja', '--mpesa=simulator'];
const unknown = words.find((word) => !KNOWN.includes(word));
if (unknown !== undefined) {
  console.error(
    `The sandbox does not know ${unknown}. It knows --exit, which ends it after the demonstration, and --mpesa=daraja, which puts a simulator of Safaricom's Daraja behind M-PESA`,
  );
  process.exit(1);
}
/** Behind M-PESA: the simulator of Safaricom's Daraja, in place of the general one. */
const mpesa = words.includes('--mpesa=daraja') ? 'daraja' : 'simulator';
console.log(`Malipo sandbox: the whole service on this machine, ${INTRODUCTIONS[mpesa]}\n`);
const reload = words.includes('--reload');
const run = openRunFolder(SANDBOX_FOLDER);
if (!reload) await bundlePrograms(run.programs);
const program = reload ? './run.ts' : join(run.programs, `${PROGRAMS.sandbox}.js`);
const { runSandbox } = (await import(program)) as typeof import('./run.ts');
process.exit(await runSandbox({ run, exitAfterwards: words.includes('--exit'), reload, mpesa }));
