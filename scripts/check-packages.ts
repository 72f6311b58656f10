import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BootError, runMain } from '../src/process/lifecycle.ts';
import { ROOT_FOLDER } from './sandbox/programs.ts';

/*
 * What is in a release besides our own code: the packages of production, their licences, and the known
 * holes in them.
 */

/** Licences that let anybody use, change and pass on a package within another one. */
const FREE: ReadonlySet<string> = new Set([
  ...['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT'],
  // What htmx calls 0BSD.
  'BSD-0-Clause',
]);

/** A bill of materials in CycloneDX, as far as it is read here. */
interface Bill {
  components: {
    name: string;
    version: string;
    licenses?: { license?: { id?: string; name?: string }; expression?: string }[];
  }[];
}

await runMain(async () => {
  const bill = writeBill();
  checkLicences(bill);
  checkHoles();
});

/** Writes the packages of production beside the built code. */
function writeBill(): Bill {
  const command = ['sbom', '--omit=dev', '--sbom-format', 'cyclonedx'];
  const text = execFileSync('npm', command, { cwd: ROOT_FOLDER, encoding: 'utf8' });
  writeFileSync(join(ROOT_FOLDER, 'dist/sbom.json'), text);
  return JSON.parse(text);
}

/** @throws BootError when a package has a licence that nobody has looked at */
function checkLicences({ components }: Bill): void {
  const found = components.map(({ name, version, licenses = [] }) => {
    const [first] = licenses;
    const licence = first?.license?.id ?? first?.license?.name ?? first?.expression;
    return { name: `${name}@${version}`, licence: licence ?? licenceIn(name) };
  });
  const others = found.filter(({ licence }) => !FREE.has(licence));
  if (others.length > 0) {
    const list = others.map(({ name, licence }) => `${name} (${licence})`).join(', ');
    throw new BootError(`Packages with a licence that is not on the list: ${list}`);
  }
  const licences = [...new Set(found.map(({ licence }) => licence))].sort();
  console.log(`${found.length} packages, with the licences ${licences.join(', ')}: dist/sbom.json`);
}

/** The bill leaves some out. */
function licenceIn(name: string): string {
  const path = join(ROOT_FOLDER, 'node_modules', name, 'package.json');
  return JSON.parse(readFileSync(path, 'utf8')).license ?? 'none';
}

/** The answer of `npm audit`. Without counts the registry has not answered. */
interface Audit {
  metadata?: { vulnerabilities: Record<string, number> };
}

/** @throws BootError when a package of production has a hole that is high or critical */
function checkHoles(): void {
  const command = ['audit', '--omit=dev', '--json'];
  const { stdout } = spawnSync('npm', command, { cwd: ROOT_FOLDER, encoding: 'utf8' });
  const counts = (JSON.parse(stdout || '{}') as Audit).metadata?.vulnerabilities;
  if (!counts) {
    console.log('Known holes are not checked: the registry does not answer about them.');
    return;
  }
  const { high = 0, critical = 0, total = 0 } = counts;
  if (high + critical > 0) {
    throw new BootError(
      `${high + critical} packages have holes that are high or critical: npm audit`,
    );
  }
  console.log(`${total} known holes, none high or critical.`);
}
