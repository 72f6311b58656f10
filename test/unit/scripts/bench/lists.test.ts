import { expect } from 'chai';
import { listCases } from '../../../../scripts/bench/lists.ts';

const KNOWN = {
  DEEP: '166',
  FREQUENT: '%2B254710000000',
  RARE: '%2B254710000001',
  KNOWN: 'order-7',
};

describe('The cases of the lists', () => {
  const cases = listCases(KNOWN);

  it('are different from each other', () => {
    expect(new Set(cases.map(({ name }) => name)).size).to.equal(cases.length);
  });

  it('ask with values in place of the words', () => {
    for (const { path } of cases) expect(path).not.to.match(/[A-Z]{3,}|undefined/);
    const paths = cases.map(({ path }) => path);
    expect(paths).to.include('/collections/checkouts?status=3&page=166');
    expect(paths.find((path) => path.includes('status=failed&date'))).to.match(
      /date_from=\d{4}-\d\d-\d\d&date_to=\d{4}-\d\d-\d\d$/,
    );
  });
});
