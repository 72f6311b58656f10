import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { poolOf, rows } from '../../src/connections/database.ts';
import { waitsForLock } from '../support/locks.ts';
import { type Answer, clientOf, eventually, useService } from '../support/world.ts';

const LIST = '/webhooks/deliveries';
/** Longer than a list may wait without a second look at its caller. */
const SLOW_MS = 800;

describe('Slow lists of a merchant', () => {
  const service = useService({ merchant: 'each' });

  /** Makes each list of webhooks slow until `work` is over. */
  async function whileSlow(work: () => Promise<void>): Promise<void> {
    const owner = await service.owner.transaction();
    await rows(owner, 'LOCK TABLE webhook_deliveries IN ACCESS EXCLUSIVE MODE');
    await work().finally(() => owner.rollback());
  }

  const ask = (count: number) => Array.from({ length: count }, () => service.client.get(LIST));

  it('take no connection from other merchants', async () => {
    const other = clientOf(service, await service.newMerchant());
    let lists: ReturnType<typeof ask> = [];
    await whileSlow(async () => {
      lists = ask(poolOf(service.database).max + 2);
      await eventually('a list to wait', () => waitsForLock(service.database));
      expect((await other.initiate()).status).to.equal(200);
    });
    for (const { status } of await Promise.all(lists)) expect(status).to.equal(200);
  });

  it('are not read for somebody who was shut out while they waited', async () => {
    let lists: ReturnType<typeof ask> = [];
    await whileSlow(async () => {
      lists = ask(3);
      await eventually('a list to wait', () => waitsForLock(service.database));
      await sleep(SLOW_MS);
      await service.assign('token_families', 'revoked_at = now()');
    });
    const statuses = (await Promise.all(lists)).map(({ status }) => status);
    expect(statuses.toSorted()).to.deep.equal([200, 200, 401]);
  });

  it('are refused while too many wait', async () => {
    const answers: Answer[] = [];
    let lists: ReturnType<typeof ask> = [];
    await whileSlow(async () => {
      lists = ask(60);
      for (const list of lists) list.then((answer) => answers.push(answer));
      await eventually('the others to be refused', async () => answers.length === 8);
    });
    for (const { status, headers } of answers.slice(0, 8)) {
      expect(status).to.equal(429);
      expect(headers.get('retry-after')).to.equal('1');
    }
    const statuses = (await Promise.all(lists)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).to.have.length(52);
  });
});
