import { expect } from 'chai';
import { logIn, newMember, startTestConsole, type TestConsole } from '../support/console.ts';
import type { ConsoleClient } from '../support/console-client.ts';

const NUL = '\0';

describe('Input that PostgreSQL cannot keep', () => {
  let test: TestConsole;
  let admin: ConsoleClient;

  before(async () => {
    test = await startTestConsole();
    admin = await logIn(test, await newMember(test, 'admin'));
    await admin.get('/');
  });

  after(() => test.close());

  const NULS = [
    ...['/search?q=%00', '/merchants?q=a%00', '/failed-jobs?error=%00b', '/failed-jobs?queue=%00'],
    ...['/webhook-endpoints/1/a%00', '/channels/%00/pause', '/audit?actor=%00', '/log-in?next=%00'],
  ];
  for (const path of NULS) {
    it(`is refused in the address ${path}`, async () => {
      const { status, text } = await admin.get(path);
      expect([status, text.includes('a character that no text may have')]).to.deep.equal([
        400,
        true,
      ]);
    });
  }

  it('is refused in the forms of strangers', async () => {
    const stranger = test.client();
    await stranger.get('/log-in');
    for (const path of ['/log-in', '/password']) {
      const { status } = await stranger.post(path, { email: `a${NUL}b`, password: 'x' });
      expect(status, path).to.equal(400);
    }
  });

  it('is refused in a reason', async () => {
    const { status } = await admin.post('/channels/63902/pause', { reason: `a${NUL}` });
    expect(status).to.equal(400);
    expect((await admin.get('/channels')).text).to.not.include('63902/resume');
  });

  it('is refused in the name of a file', async () => {
    const file = new File(['x'], `a${NUL}.csv`);
    expect((await admin.postFile('/reconciliation/new', { file })).status).to.equal(400);
  });

  it('fits no job as the number of a channel', async () => {
    const { status } = await admin.get('/failed-jobs?channel=999999999999999');
    expect(status).to.equal(200);
  });

  it('is refused as an address with a zone', async () => {
    const { status, text } = await admin.get('/security-events?ip=fe80::1%25eth0');
    expect([status, text.includes('must be an IPv4 or IPv6 address')]).to.deep.equal([400, true]);
  });
});
