import { expect } from 'chai';
import { consoleCases } from '../../../../scripts/bench/console-addresses.ts';
import { ROUTES } from '../../../../src/console/routes.ts';

const WORDS = `KIND MERCHANT PAYMENT LONG_KIND LONG_MERCHANT LONG JOB APP USER IMPORT APPROVAL BULK
  DISCREPANCY MONTH PHONE REF RECEIPT EXTERNAL SUBJECT`;
const KNOWN = {
  ...Object.fromEntries(WORDS.split(/\s+/).map((word) => [word, '7'])),
  OPEN: '1/2/3',
};

describe('The addresses of the console', () => {
  const cases = consoleCases(KNOWN);

  it('are those of every page, each at its route', () => {
    const pages = Object.entries(ROUTES).filter(([, { method }]) => method === 'get');
    expect(new Set(cases.map(({ route }) => route as string))).to.have.all.keys(
      ...pages.map(([name]) => name),
    );
    for (const { route, path } of cases) {
      const pattern = ROUTES[route].path.replace(/:\w+/g, '[^/]+').replaceAll('.', '\\.');
      expect(path.split('?')[0], route).to.match(new RegExp(`^${pattern}$`));
    }
  });

  it('are different from each other, with values in place of the words', () => {
    expect(new Set(cases.map(({ name }) => name)).size).to.equal(cases.length);
    for (const { path } of cases) expect(path).not.to.match(/[A-Z]{3,}|undefined/);
  });
});
