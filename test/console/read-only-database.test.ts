import { expect } from 'chai';
import { logIn, newMember, startTestConsole, type TestConsole } from '../support/console.ts';
import type { ConsoleClient } from '../support/console-client.ts';
import { eventually } from '../support/eventually.ts';
import { makeReadOnly, makeWritable } from '../support/read-only.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';

const WARNING = 'The database can only be read, so the audit log does not have this read.';

describe('The console on a database that can only be read', () => {
  let test: TestConsole;
  let admin: ConsoleClient;
  let merchant: TestMerchant;

  before(async () => {
    test = await startTestConsole();
    merchant = await createTestMerchant(test.service);
    admin = await logIn(test, await newMember(test, 'admin'));
    expect((await admin.get('/merchants')).text).to.not.include(WARNING);
    await makeReadOnly(test.testDatabase.url);
  });

  after(() => test.close());

  /** A connection that was ended may be found out only when it is used. */
  const afresh = async (path: string) => {
    await eventually('a new connection', async () => (await admin.get(path)).status === 200);
    return admin.get(path);
  };

  it('shows its pages, and says that the audit log does not have the read', async () => {
    const pages = ['/merchants', `/merchants/${merchant.merchant_id}`, '/search?q=0712345678'];
    for (const path of [...pages, '/audit', '/discrepancies', '/failed-jobs']) {
      expect((await afresh(path)).text, path).to.include(WARNING);
    }
    const { text } = await admin.post(`/merchants/${merchant.merchant_id}/reveal`);
    expect(text)
      .to.include(WARNING)
      .and.match(/\+254\d{9}/);
  });

  it('changes nothing and says so', async () => {
    const path = `/merchants/${merchant.merchant_id}/change/suspend`;
    await afresh(path);
    const { status, text } = await admin.post(path, { reason: 'Ticket 4711' });
    expect([status, text.includes('Nothing was changed')]).to.deep.equal([503, true]);
  });

  it('records reads again as soon as it can be written', async () => {
    await makeWritable(test.testDatabase.url);
    expect((await afresh('/merchants')).text).to.not.include(WARNING);
  });
});
