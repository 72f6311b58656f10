import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { withErrorsTable } from '../../scripts/errors-document.ts';
import { ERROR_ANSWERS } from '../../src/api/error-answers.ts';

const guide = readFileSync(new URL('../../docs/guides/errors.md', import.meta.url), 'utf8');

describe('The guide about errors', () => {
  it('is as the code says (npm run errors)', () => {
    expect(withErrorsTable(guide)).to.equal(guide);
  });

  it('says of each status once whether something was recorded', () => {
    const rows = [...guide.matchAll(/^\| (\d{3}(?:, \d{3})*) \| (?!`)/gm)];
    const shown = rows.flatMap(([, statuses]) => statuses!.split(', ')).toSorted();
    const all = new Set(Object.values(ERROR_ANSWERS).map(({ status }) => String(status)));
    expect(shown).to.deep.equal([...all].toSorted());
  });

  it('does not say that nothing was recorded where a first try may have been', () => {
    expect(guide).to.match(/^\| 409 \| (?!No\b).*duplicate_ref_no.*idempotency_key_running/m);
  });

  it('has each code once', () => {
    const shown = [...guide.matchAll(/^\| \d{3} \| `(\w+)` \|/gm)].map(([, code]) => code);
    expect(shown.toSorted()).to.deep.equal(Object.keys(ERROR_ANSWERS).toSorted());
  });
});
