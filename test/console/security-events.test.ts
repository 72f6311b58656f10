import { expect } from 'chai';
import { accountHash } from '../../src/domain/credentials/log-in-limit.ts';
import { recordSecurityEvent } from '../../src/domain/security/security-events.ts';
import { logIn, newMember, startTestConsole, type TestConsole } from '../support/console.ts';
import type { ConsoleClient } from '../support/console-client.ts';
import { lastAudit, wordsOf } from '../support/console-text.ts';

describe('The security events of the console', () => {
  let test: TestConsole;
  let viewer: ConsoleClient;
  let database: TestConsole['service']['database'];

  before(async () => {
    test = await startTestConsole();
    database = test.service.database;
    viewer = await logIn(test, await newMember(test, 'viewer'));
    await viewer.get('/');
  });

  after(() => test.close());

  const list = async (query: string) => wordsOf(await viewer.get(`/security-events?${query}`));

  it('are found by kind, merchant, account, address and day', async () => {
    const account_hash = accountHash(test.service.config.secretsKeys, 'someone@x.example');
    await recordSecurityEvent(database, {
      ...{ kind: 'address_refused', merchant_id: 7001, ip: '192.0.2.7', account_hash },
      detail: { why: '<b>not in the list</b>' },
    });
    const today = new Date().toISOString().slice(0, 10);
    const found = 'why: &lt;b>not in the list';
    for (const query of [
      ...['kind=address_refused', 'merchant=7001', 'account=someone@x.example', 'ip=192.0.2.7'],
      `kind=address_refused&since=2026-01-01`,
    ]) {
      expect(await list(query), query)
        .to.include(found)
        .and.include('merchant 7001');
    }
    for (const query of [
      ...['kind=log_in_limited', 'merchant=7002', 'account=other@x.example', 'ip=192.0.2.8'],
      ...['until=2026-01-01', `merchant=7002&since=${today}`],
    ]) {
      expect(await list(query), query).to.include('No event fits');
    }
    await viewer.get('/security-events?merchant=7001');
    expect(await lastAudit(database, true)).to.deep.include({
      ...{ action: 'security.list', subject: 'security', merchant_id: 7001 },
      details: { merchant_id: 7001, rows: 1 },
    });
  });

  it('go from page to page, newest first, with the same filter', async () => {
    for (let n = 1; n <= 55; n += 1) {
      await recordSecurityEvent(database, { kind: 'totp_reset', detail: { n: `event-${n}-` } });
    }
    const first = await viewer.get('/security-events?kind=totp_reset');
    expect(first.text).to.include('event-55-').and.include('event-6-').and.not.include('event-5-');
    const next = /href="([^"]+)">Next page/.exec(first.text)![1]!.replaceAll('&amp;', '&');
    const second = await viewer.get(next);
    expect(second.text).to.include('event-5-').and.include('event-1-').and.not.include('event-6-');
    expect(second.text).to.not.include('Next page');
  });

  it('refuse a filter that cannot be read', async () => {
    const wrong = ['kind=x', 'merchant=x', 'merchant=0', 'ip=1.2.3', 'since=2026-02-30', 'after=x'];
    for (const query of [...wrong, 'since=2026-02-02&until=2026-02-01']) {
      const { status, text } = await viewer.get(`/security-events?${query}`);
      expect([status, text.includes('must be')], query).to.deep.equal([400, true]);
    }
    const gone = '01890000-0000-7000-8000-000000000000';
    expect((await viewer.get(`/security-events?after=${gone}`)).status).to.equal(422);
  });
});
