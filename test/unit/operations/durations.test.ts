import { expect } from 'chai';
import { duration } from '../../../src/operations/readers.ts';

describe('A duration of an operation', () => {
  const { read, write } = duration(30);

  for (const [typed, shown] of [
    ['90s', '90s'],
    ['30m', '30m'],
    ['24h', '1d'],
    ['7d', '7d'],
    ['0', '0'],
  ] as const) {
    it(`${typed} is shown as ${shown} to who approves it, and can be typed so`, () => {
      const ms = read(typed, 'EAT');
      expect(write!(ms)).to.equal(shown);
      expect(read(shown, 'EAT')).to.equal(ms);
    });
  }
});
