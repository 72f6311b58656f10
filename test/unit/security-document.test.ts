import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const [, attacks = ''] = readFileSync(`${ROOT}/SECURITY.md`, 'utf8').split('## Attacks');
const ROWS = attacks
  .split('\n## ')[0]!
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(1);

describe('The table of attacks', () => {
  it('names for each a test that is there and that every run of the tests plays', () => {
    expect(ROWS.length).to.be.above(20);
    for (const row of ROWS) {
      const tests = [...row.matchAll(/\]\((test\/[^)]+)\)/g)].map(([, path]) => path!);
      expect(tests, row).to.not.be.empty;
      for (const path of tests) {
        expect(existsSync(`${ROOT}/${path}`), path).to.equal(true);
        expect(path).to.not.match(/^test\/(full|chaos)\//);
      }
    }
  });
});
