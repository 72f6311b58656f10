import { expect } from 'chai';
import { connectionsAtMost, defaultPoolMax } from '../../../src/connections/connection-budget.ts';
import { PROCESS_TYPES } from '../../../src/workers/start-workers.ts';

describe('The connections of all processes', () => {
  const onRedis = { databasePoolMax: undefined, redisUrl: 'redis://cache' };
  const onPostgres = { databasePoolMax: undefined, redisUrl: undefined };
  const sum = (names: readonly string[], config: typeof onRedis | typeof onPostgres) =>
    names.reduce((total, name) => total + connectionsAtMost(name, config), 0);

  it('come to 24 with those of a command beside them', () => {
    expect(sum(['web', 'console', ...PROCESS_TYPES], onRedis)).to.equal(22);
    expect(sum(['web', 'console', 'worker'], onPostgres)).to.equal(21);
    expect(defaultPoolMax('admin')).to.equal(2);
    expect(defaultPoolMax('migrate')).to.equal(2);
  });

  it('are enough of each, and one setting for all where there is one', () => {
    for (const name of ['web', 'console', ...PROCESS_TYPES, 'worker', 'submission+refunds']) {
      expect(defaultPoolMax(name), name).to.be.at.least(2);
    }
    expect(defaultPoolMax('submission+refunds')).to.equal(4);
    expect(defaultPoolMax(PROCESS_TYPES.slice(1).join('+'))).to.equal(defaultPoolMax('worker'));
    const config = { ...onRedis, databasePoolMax: 7 };
    expect(connectionsAtMost('web', config)).to.equal(7);
  });
});
