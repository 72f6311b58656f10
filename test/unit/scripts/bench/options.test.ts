import { expect } from 'chai';
import { BenchError, readOptions } from '../../../../scripts/bench/options.ts';

describe('The options of the bench', () => {
  it('drain 3,000 payments unless told otherwise', () => {
    expect(readOptions([], []).payments).to.equal(3_000);
    expect(readOptions(['--payments', '100'], []).payments).to.equal(100);
  });

  it('are smaller for a quick run, but for what is given', () => {
    expect(readOptions(['--quick'], [])).to.include({ quick: true, seconds: 1, payments: 600 });
    expect(readOptions(['--quick', '--payments=700'], []).payments).to.equal(700);
  });

  for (const text of ['99', '100001', '1e3', 'many', '']) {
    it(`refuse --payments=${text}`, () => {
      expect(() => readOptions([`--payments=${text}`], [])).to.throw(
        BenchError,
        '--payments must be a whole number from 100 to 100000',
      );
    });
  }

  it('soak for ten minutes, at half of what is measured unless told otherwise', () => {
    expect(readOptions([], [])).to.include({ minutes: 10, rate: null });
    expect(readOptions(['--minutes=1', '--rate=7'], [])).to.include({ minutes: 1, rate: 7 });
    expect(() => readOptions(['--rate=0'], [])).to.throw(BenchError, '--rate must be');
  });

  it('have any seed unless told otherwise', () => {
    expect(readOptions([], []).seed).to.be.within(0, 2 ** 32 - 1);
    expect(readOptions(['--seed=7'], []).seed).to.equal(7);
  });

  it('refuse an option and a scenario that there is not', () => {
    expect(() => readOptions(['--fast'], ['lists'])).to.throw(TypeError, '--fast');
    expect(() => readOptions(['list'], ['lists'])).to.throw(
      BenchError,
      'There is no scenario list',
    );
  });
});
