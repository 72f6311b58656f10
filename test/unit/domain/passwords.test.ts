import { randomBytes, scryptSync } from 'node:crypto';
import { expect } from 'chai';
import {
  ADVISED_COST,
  hashPassword,
  isPassword,
  PASSWORD_COST,
  renewedHash,
} from '../../../src/domain/credentials/passwords.ts';
import { CHEAP_N } from '../../support/cheap-passwords.ts';

/** A hash as an earlier version stored it, which cost less than any of today. */
function cheaperHash(password: string): string {
  const salt = randomBytes(16);
  const key = scryptSync(password, salt, 32, { N: 16, r: 8, p: 1 });
  return `scrypt$16,8,1$${salt.toString('base64')}$${key.toString('base64')}`;
}

describe('A password', () => {
  let costOfRun: number;

  beforeEach(() => {
    costOfRun = PASSWORD_COST.N;
  });

  afterEach(() => {
    PASSWORD_COST.N = costOfRun;
  });

  it('is hashed at the cost that OWASP advises, which is stored with the hash', async () => {
    expect(ADVISED_COST).to.deep.equal({ N: 2 ** 17, r: 8, p: 1 });
    PASSWORD_COST.N = ADVISED_COST.N;
    const hash = await hashPassword('correct horse');
    expect(hash).to.match(/^scrypt\$131072,8,1\$[\w+/]{22}==\$[\w+/]{43}=$/);
  });

  it('is known by its hash, also when the cost of new hashes has changed', async () => {
    PASSWORD_COST.N = CHEAP_N;
    const hash = await hashPassword('correct horse');
    for (const cost of [CHEAP_N, 2 * CHEAP_N]) {
      PASSWORD_COST.N = cost;
      expect(await isPassword('correct horse', hash)).to.equal(true);
      expect(await isPassword('correct horsf', hash)).to.equal(false);
    }
  });

  it('gets another hash only if the one it has costs less than today’s', async () => {
    PASSWORD_COST.N = CHEAP_N;
    const renewed = await renewedHash('correct horse', cheaperHash('correct horse'));
    expect(renewed).to.match(/^scrypt\$1024,8,1\$/);
    expect(await isPassword('correct horse', renewed!)).to.equal(true);
    expect(await renewedHash('correct horse', renewed!)).to.equal(null);
  });

  it('of nobody is never right', async () => {
    PASSWORD_COST.N = CHEAP_N;
    expect(await isPassword('', undefined)).to.equal(false);
  });

  it('waits for its turn, and is refused when too many wait', async () => {
    const hash = cheaperHash('correct horse');
    const checks = Array.from({ length: 43 }, () => isPassword('correct horse', hash));
    const outcomes = await Promise.allSettled(checks);
    const right = outcomes.filter(({ status }) => status === 'fulfilled');
    expect(right).to.have.length(42);
    const refused = outcomes.at(-1) as PromiseRejectedResult;
    expect(refused.reason.code).to.equal('unavailable');
    expect(await isPassword('correct horse', hash)).to.equal(true);
  });
});
