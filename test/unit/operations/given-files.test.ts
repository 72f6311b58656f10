import { expect } from 'chai';
import { mostLines, withFiles } from '../../../src/operations/given-files.ts';

describe('A file that is sent with a command', () => {
  it('may have fewer lines than one that the process reads itself', () => {
    expect(mostLines(2_000_000)).to.equal(2_000_000);
    expect(withFiles(new Map(), () => mostLines(2_000_000))).to.equal(100_000);
    expect(withFiles(new Map(), () => mostLines(50))).to.equal(50);
  });
});
