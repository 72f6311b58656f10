import { expect } from 'chai';
import { MAX_WAIT_MS, Pace } from '../../../src/gateways/pace.ts';

describe('The pace of calls to a gateway', () => {
  const busy = () => {
    const pace = new Pace();
    pace.narrow();
    return pace;
  };

  it('lets every call go while the gateway is not busy', () => {
    const pace = new Pace();
    for (let call = 0; call < 100; call += 1) expect(pace.take(false)).to.equal(0);
  });

  it('lets one call go at a time once the gateway is busy, and gives each other its own turn', () => {
    const pace = busy();
    expect(pace.take(false)).to.equal(0);
    const waits = [1, 2, 3].map(() => pace.take(false));
    expect(waits).to.deep.equal(waits.toSorted((a, b) => a - b));
    expect(new Set(waits).size).to.equal(3);
  });

  it('lets nobody wait longer than the limit, however many wait', () => {
    const pace = busy();
    for (let call = 0; call < 1_000; call += 1) {
      expect(pace.take(false)).to.be.at.most(MAX_WAIT_MS);
    }
  });

  it('counts refusals of calls that were under way together once', () => {
    const pace = busy();
    const before = pace.pauseMs;
    for (let call = 0; call < 20; call += 1) pace.narrow();
    expect(pace.pauseMs).to.equal(before);
  });

  it('widens with every answer until nothing waits', () => {
    const pace = busy();
    let answers = 0;
    for (let last = pace.pauseMs; pace.pauseMs > 0; answers += 1) {
      pace.widen();
      expect(pace.pauseMs).to.be.below(last);
      last = pace.pauseMs;
    }
    expect(answers).to.be.greaterThan(1);
    expect(pace.take(false)).to.equal(0);
  });
});
