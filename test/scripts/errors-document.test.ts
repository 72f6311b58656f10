import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { withErrorsTable } from '../../scripts/errors-document.ts';
import { ERROR_ANSWERS } from '../../src/api/error-answers.ts';

const guide = readFileSync(new URL('../../docs/guides/errors.md', import.meta.url), 'utf8');

describe('The guide about errors', () => {
  it('is as the code says (npm run errors)', () => {
    expect(withErrorsTable(guide)).to.equal(guide);
  });

  it('has each code once', () => {
    const shown = [...guide.matchAll(/^\| \d{3} \| `(\w+)` \|/gm)].map(([, code]) => code);
    expect(shown.toSorted()).to.deep.equal(Object.keys(ERROR_ANSWERS).toSorted());
  });
});
