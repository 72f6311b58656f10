import { expect } from 'chai';
import { inLine } from '../../../src/domain/credentials/passwords.ts';

const OF_NETWORK = 10;
const OF_STRANGERS = 20;

describe('The places of password checks', () => {
  let end: () => void;
  let ended: Promise<void>;

  beforeEach(() => {
    ended = new Promise((resolve) => {
      end = resolve;
    });
  });

  /** Begins checks that go on until `end`. @returns how many of them have a place. */
  async function begin(count: number, networkOf: (index: number) => string, isKnown = false) {
    let begun = 0;
    const checks = Array.from({ length: count }, (_, index) =>
      inLine(networkOf(index), isKnown, () => {
        begun += 1;
        return ended;
      }).catch(({ code }) => expect(code).to.equal('unavailable')),
    );
    return { begun, over: Promise.all(checks) };
  }

  it('are few for one network, and half of all for strangers together', async () => {
    const one = await begin(15, () => 'network');
    expect(one.begun).to.equal(OF_NETWORK);
    const many = await begin(100, (index) => `network-${index}`);
    expect(one.begun + many.begun).to.equal(OF_STRANGERS);
    const known = await begin(10, () => 'known', true);
    expect(known.begun).to.equal(10);
    end();
    await Promise.all([one.over, many.over, known.over]);
  });

  it('are free again when a check has ended, also with a failure', async () => {
    for (let round = 0; round < 2 * OF_STRANGERS; round += 1) {
      const failing = inLine('network', false, () => Promise.reject(new Error('wrong')));
      expect(await failing.catch(({ message }) => message)).to.equal('wrong');
    }
    const one = await begin(15, () => 'network');
    expect(one.begun).to.equal(OF_NETWORK);
    end();
    await one.over;
  });
});
