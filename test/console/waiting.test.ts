import { expect } from 'chai';
import { logIn, newMember, startTestConsole, type TestConsole } from '../support/console.ts';
import type { ConsoleClient } from '../support/console-client.ts';
import { makeOverdue, type Scene } from '../support/discrepancies/scene.ts';
import { failedPayout } from '../support/failed-jobs.ts';
import { newPayout } from '../support/payment-kinds.ts';
import { newCollection } from '../support/payments.ts';
import { createTestMerchant } from '../support/test-merchant.ts';

describe('Payments that wait, at the console', () => {
  let test: TestConsole;
  let viewer: ConsoleClient;
  let scene: Scene;

  before(async () => {
    test = await startTestConsole();
    viewer = await logIn(test, await newMember(test, 'viewer'));
    const { database } = test.service;
    scene = { database, merchant: await createTestMerchant(test.service) };
  });

  after(() => test.close());

  it('say that there are none', async () => {
    expect((await viewer.get('/waiting')).text).to.include('There is nothing to do');
  });

  it('are listed by reason, kind and merchant, and those that go on are not', async () => {
    const { database, merchant } = scene;
    const overdue = await makeOverdue(scene, await newPayout(database, merchant));
    const late = await makeOverdue(scene, await newCollection(database, merchant));
    const { payout: parked } = await failedPayout(database, merchant);
    const usual = await newPayout(database, merchant);
    const listed = async (query: string) => {
      const { text } = await viewer.get(`/waiting?${query}`);
      return [overdue, late, parked, usual].map(({ id }) => text.includes(id));
    };
    expect(await listed('')).to.deep.equal([true, true, true, false]);
    expect(await listed('why=overdue')).to.deep.equal([true, true, false, false]);
    expect(await listed('why=parked')).to.deep.equal([false, false, true, false]);
    expect(await listed('why=overdue&kind=payout')).to.deep.equal([true, false, false, false]);
    expect(await listed(`merchant=${merchant.merchant_id}`)).to.deep.equal([
      ...[true, true, true, false],
    ]);
    expect(await listed('merchant=1')).to.deep.equal([false, false, false, false]);
    const overview = (await viewer.get('/')).text;
    for (const query of ['why=overdue&amp;kind=payout', 'why=parked&amp;kind=payout']) {
      expect(overview).to.include(`href="/waiting?${query}"`);
    }
  });

  it('are listed page by page, none twice and none left out', async () => {
    const { database } = scene;
    const merchant = await createTestMerchant(test.service);
    for (let made = 0; made < 60; made += 1) await failedPayout(database, merchant);
    const seen: string[] = [];
    let path: string | undefined = `/waiting?merchant=${merchant.merchant_id}`;
    while (path) {
      const { text } = await viewer.get(path);
      seen.push(
        ...[...text.matchAll(/\/payments\/payout\/\d+\/([\da-f-]{36})"/g)].map(([, id]) => id!),
      );
      path = /href="(\/waiting\?[^"]*after=[^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
    }
    expect([seen.length, new Set(seen).size]).to.deep.equal([60, 60]);
  });

  it('are of a known reason and kind', async () => {
    for (const query of ['why=tired', 'kind=gift', 'merchant=x', 'after=x']) {
      expect((await viewer.get(`/waiting?${query}`)).status, query).to.equal(400);
    }
  });
});
