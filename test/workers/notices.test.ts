import { expect } from 'chai';
import {
  MAX_EMAILS_PER_HOUR,
  NOTICE_RETRY_DELAYS_MS,
  takeNotice,
} from '../../src/domain/webhooks/notices.ts';
import { loadConfig, type Service } from '../../src/service/service.ts';
import { tellNotice, tellsNotices } from '../../src/workers/notices.ts';
import { makeCertificates } from '../support/certificates.ts';
import { outcomeOf } from '../support/events.ts';
import { type MailServer, startMailServer } from '../support/mail-server.ts';
import {
  failEndpoint,
  makeNoticesDue,
  makeNoticesOlder,
  type NoticeHook,
  recoverEndpoint,
  startNoticeHook,
} from '../support/notices.ts';
import { useStore } from '../support/world.ts';

const SHOP = 'https://shop.example';
const FROM = 'malipo@pay.example';

describe('A notice of an outage', () => {
  const store = useStore({ merchant: 'none' });
  let mail: MailServer;
  let hook: NoticeHook;
  let service: Service;
  let merchant_id: number;

  before(async () => {
    mail = await startMailServer();
    hook = await startNoticeHook();
    service = serviceWith({ SMTP_URL: mail.url, NOTICE_FROM: FROM, NOTICE_HOOK_URL: hook.url });
  });

  after(async () => {
    await mail.close();
    await hook.close();
  });

  beforeEach(async () => {
    // Notices of the test before would be told too.
    await store.rows('DELETE FROM webhook_notices');
    ({ merchant_id } = await store.newMerchant());
    mail.received.length = 0;
    mail.answerWith(null);
    hook.received.length = 0;
    hook.answerWith(204);
  });

  function serviceWith(env: Record<string, string>): Service {
    const config = loadConfig({ DATABASE_URL: store.url, ...env });
    return store.parts(config);
  }

  const shop = (endpoint = SHOP) => ({ merchant_id, endpoint });
  const fail = (endpoint = SHOP) => failEndpoint(store.database, shop(endpoint));
  const recover = () => recoverEndpoint(store.database, shop());
  const due = (kind: string | null = null) => makeNoticesDue(store.database, kind);
  const subjects = () => mail.received.map(({ headers }) => headers.subject);
  const kinds = () => hook.received.map(({ kind }) => kind);

  /** Tells everything that is due, as the dispatcher does. @returns how many it took */
  async function tellAll(by = service): Promise<number> {
    let count = 0;
    while ((await tellNotice(by)) > 0) count += 1;
    return count;
  }

  it('goes to the merchant and to the operator, once, however many webhooks fail', async () => {
    await fail();
    expect(await tellAll()).to.equal(1);
    await fail();
    await due();
    expect(await tellAll()).to.equal(0);
    const merchant = await store.firstRow<{ name: string; email: string }>(
      'SELECT name, email FROM merchants WHERE id = :merchant_id',
      { merchant_id },
    );
    expect(mail.received).to.have.length(1);
    const [{ from, to, headers, text }] = mail.received as [(typeof mail.received)[0]];
    expect([from, to]).to.deep.equal([FROM, [merchant!.email]]);
    expect(headers).to.include({
      subject: `Your webhook endpoint does not work: ${SHOP}`,
      'auto-submitted': 'auto-generated',
    });
    expect(text)
      .to.include(`Endpoint: ${SHOP}\nMerchant: ${merchant!.name} (${merchant_id})\n`)
      .and.match(/^Failing since: [\d-]+ [\d:]+ EAT \([\d-]+ [\d:]+ UTC\)$/m)
      .and.include('Last failure: your endpoint answered with status 503\n')
      .and.include('Webhooks that wait now: 0\n')
      .and.include('It holds back the webhooks to this endpoint');
    for (const way of ['endpoints', 'deliveries', 'test', 'recover']) {
      expect(text).to.match(new RegExp(`^- .*(GET|POST) /webhooks/${way} `, 'm'));
    }
    expect(text).to.include('GET /events ');
    const [posted, ...others] = hook.received;
    expect(others).to.deep.equal([]);
    const { failing_since, created_at, ...rest } = posted!;
    for (const time of [failing_since, created_at]) expect(time).to.match(/^\d{4}-.*Z$/);
    expect(rest).to.deep.equal({
      kind: 'failing',
      merchant_id,
      merchant_name: merchant!.name,
      endpoint: SHOP,
      last_status: 503,
      last_error: null,
      waiting: 0,
    });
  });

  it('is told by the ways that are configured, and by none by default', async () => {
    expect(tellsNotices(serviceWith({}))).to.equal(false);
    await fail();
    const hookOnly = serviceWith({ NOTICE_HOOK_URL: hook.url });
    expect(tellsNotices(hookOnly)).to.equal(true);
    await tellAll(hookOnly);
    expect([mail.received.length, hook.received.length]).to.deep.equal([0, 1]);
    await fail('https://other.example');
    await tellAll(serviceWith({ SMTP_URL: mail.url, NOTICE_FROM: FROM }));
    expect([mail.received.length, hook.received.length]).to.deep.equal([1, 1]);
  });

  it('says that an endpoint has recovered when it has stayed well, and no earlier', async () => {
    await fail();
    await tellAll();
    await recover();
    expect(await tellAll()).to.equal(0);
    await due('recovered');
    expect(await tellAll()).to.equal(1);
    expect(kinds()).to.deep.equal(['failing', 'recovered']);
    expect(subjects().at(-1)).to.equal(`Your webhook endpoint works again: ${SHOP}`);
    expect(mail.received.at(-1)!.text)
      .to.match(/^Works again since: .* EAT/m)
      .and.include('It sends the webhooks to this endpoint again');
  });

  it('is not taken back once it is on its way', async () => {
    await fail();
    await tellAll();
    await recover();
    await due('recovered');
    await takeNotice(store.database);
    await fail();
    await due();
    expect(await tellAll()).to.equal(1);
    // The recovery may have been told: so is the new outage, and nothing older after it.
    expect(kinds()).to.deep.equal(['failing', 'failing']);
  });

  it('is sent by one of many dispatchers that look at once', async () => {
    const endpoints = [1, 2, 3, 4, 5].map((n) => `https://shop-${n}.example`);
    for (const endpoint of endpoints) await fail(endpoint);
    const counts = await Promise.all([1, 2, 3, 4].map(() => tellAll()));
    expect(counts.reduce((sum, count) => sum + count)).to.equal(endpoints.length);
    expect(hook.received.map(({ endpoint }) => endpoint).sort()).to.deep.equal(endpoints);
    expect(mail.received).to.have.length(endpoints.length);
  });

  it('is left to the dispatcher that is just taking it', async () => {
    await fail();
    const taken = await store.transaction(async (trx) => [
      await takeNotice(trx),
      await takeNotice(store.database),
    ]);
    expect(taken.map((notice) => notice?.kind)).to.deep.equal(['failing', undefined]);
    expect(await takeNotice(store.database)).to.equal(null);
  });

  it('goes again, under the same id, when the one that had taken it is gone', async () => {
    await fail();
    await takeNotice(store.database);
    expect(await tellAll()).to.equal(0);
    await due();
    expect(await tellAll()).to.equal(1);
    await store.rows('UPDATE webhook_notices SET sent_at = NULL, emailed_at = NULL');
    await due();
    expect(await tellAll()).to.equal(1);
    const ids = mail.received.map(({ headers }) => headers['message-id']);
    expect(ids).to.have.length(2);
    expect(new Set(ids).size).to.equal(1);
    expect(ids[0]).to.match(/^<[0-9a-f-]{36}@pay\.example>$/);
  });

  it('waits while the mail server is down, and is not told twice to the operator', async () => {
    const gone = await startMailServer();
    await gone.close();
    const own = serviceWith({ SMTP_URL: gone.url, NOTICE_FROM: FROM, NOTICE_HOOK_URL: hook.url });
    await fail();
    expect(await tellAll(own)).to.equal(1);
    await due();
    expect(await tellAll(own)).to.equal(1);
    const back = await startMailServer({ port: gone.port });
    try {
      await due();
      expect(await tellAll(own)).to.equal(1);
      expect(back.received).to.have.length(1);
      await due();
      expect(await tellAll(own)).to.equal(0);
      expect(kinds()).to.deep.equal(['failing']);
    } finally {
      await back.close();
    }
  });

  it('does not go to a mail server that cannot prove who it is', async () => {
    const certificates = await makeCertificates('IP:127.0.0.1');
    const secured = await startMailServer({ certificates });
    try {
      const own = serviceWith({ SMTP_URL: secured.url, NOTICE_FROM: FROM });
      await fail();
      expect(await tellAll(own)).to.equal(1);
      expect(secured.received).to.deep.equal([]);
      const [row] = await store.rows('SELECT sent_at FROM webhook_notices');
      expect(row).to.deep.equal({ sent_at: null });
    } finally {
      await secured.close();
    }
  });

  it('is tried again after ever longer waits when the hook does not take it', async () => {
    await fail();
    const last = NOTICE_RETRY_DELAYS_MS.at(-1)!;
    const waits = [...NOTICE_RETRY_DELAYS_MS, last];
    for (const [tries, status] of [500, 302, 404, 503, 429].entries()) {
      hook.answerWith(status);
      await due();
      expect(await tellAll(), String(status)).to.equal(1);
      const [row] = await store.rows<{ waits: boolean }>(
        `SELECT send_at > now() + :delay_ms * interval '1 millisecond' - interval '30 seconds' AS waits
         FROM webhook_notices`,
        { delay_ms: waits[tries] },
      );
      expect(row!.waits, String(status)).to.equal(true);
    }
    hook.answerWith(204);
    await due();
    await tellAll();
    expect([mail.received.length, hook.received.length]).to.deep.equal([1, 1]);
  });

  it('is left unsent when it is a day old', async () => {
    await fail();
    mail.answerWith('no room');
    expect(await tellAll()).to.equal(1);
    await makeNoticesOlder(store.database, 25);
    mail.answerWith(null);
    expect(await tellAll()).to.equal(0);
    await due();
    expect(await tellAll()).to.equal(0);
    expect(mail.received).to.deep.equal([]);
  });

  it('is left unsent when something newer is known of the endpoint', async () => {
    await fail();
    mail.answerWith('no room');
    hook.answerWith(500);
    await tellAll();
    await recover();
    mail.answerWith(null);
    hook.answerWith(204);
    await due();
    expect(await tellAll()).to.equal(1);
    expect(kinds()).to.deep.equal(['recovered']);
    expect(subjects()).to.have.length(1);
  });

  it('says what has been given up, also when the endpoint has recovered since', async () => {
    await fail();
    await tellAll();
    await store.rows(
      `INSERT INTO webhook_notices
         (id, merchant_id, endpoint, kind, failing_since, last_error, send_at)
       VALUES (gen_random_uuid(), :merchant_id, :endpoint, 'exhausted', now(), 'timeout', now())`,
      shop(),
    );
    await recover();
    await due();
    expect(await tellAll()).to.equal(2);
    expect(kinds()).to.have.members(['failing', 'exhausted', 'recovered']);
    const { text } = mail.received.find(({ headers }) => /given up/.test(headers.subject!))!;
    expect(text)
      .to.match(/^Given up: .* EAT/m)
      .and.include('Last failure: no answer (timeout)\n')
      .and.include('It goes on to send the others.');
  });

  it('reaches a merchant ten times an hour at most, and the operator always', async () => {
    const count = MAX_EMAILS_PER_HOUR + 2;
    for (let n = 0; n < count; n += 1) await fail(`https://shop-${n}.example`);
    await tellAll();
    expect(mail.received).to.have.length(MAX_EMAILS_PER_HOUR);
    expect(hook.received).to.have.length(count);
    await makeNoticesOlder(store.database, 2);
    await due();
    await tellAll();
    expect(mail.received).to.have.length(count);
    expect(hook.received).to.have.length(count);
  });

  it('has one recipient and our headers alone, whatever names and errors say', async () => {
    await store.rows(
      `UPDATE merchants SET name = E'Duka\\r\\nBcc: eve@evil.example\\r\\n\\r\\nHello \\u202e'
       WHERE id = :merchant_id`,
      { merchant_id },
    );
    const error = 'wrong certificate\r\nBcc: eve@evil.example\r\n.\r\nMAIL FROM:<eve@evil.example>';
    await failEndpoint(store.database, shop(), outcomeOf({ error }));
    await tellAll();
    const [{ to, headers, text }] = mail.received as [(typeof mail.received)[0]];
    expect(mail.received).to.have.length(1);
    expect(to).to.have.length(1);
    expect(headers).to.not.have.any.keys('bcc', 'cc');
    expect(text)
      .to.match(/^Merchant: Duka Bcc: eve@evil\.example Hello \(\d+\)$/m)
      .and.match(/^Last failure: no answer \(wrong certificate Bcc: .*\)$/m)
      .and.not.match(/^Bcc/m);
  });

  it('is counted by what it tells, by way and by what came of it', async () => {
    const own = serviceWith({ SMTP_URL: mail.url, NOTICE_FROM: FROM, NOTICE_HOOK_URL: hook.url });
    await fail();
    hook.answerWith(500);
    await tellAll(own);
    const { values } = await own.meters.webhookNotices.get();
    expect(values.map(({ labels, value }) => ({ ...labels, value }))).to.have.deep.members([
      { kind: 'failing', way: 'email', result: 'sent', value: 1 },
      { kind: 'failing', way: 'hook', result: 'failed', value: 1 },
    ]);
  });
});
