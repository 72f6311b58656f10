import { expect } from 'chai';
import { inTransaction, rows } from '../../src/connections/database.ts';
import { channelPauses } from '../../src/domain/channels/channel-store.ts';
import { recordOperatorTrouble } from '../../src/domain/channels/operator-trouble.ts';
import { storeFloat } from '../../src/domain/gateway-accounts/float-store.ts';
import { logIn, newMember, startTestConsole, type TestConsole } from '../support/console.ts';
import type { ConsoleClient } from '../support/console-client.ts';
import { previewIn, wordsOf } from '../support/console-text.ts';
import { newPayout } from '../support/payment-kinds.ts';
import { createTestMerchant } from '../support/test-merchant.ts';

const M_PESA = 63902;
const PAUSE = `/channels/${M_PESA}/pause`;
const RESUME = `/channels/${M_PESA}/resume`;
const REASON = 'The float is empty';

describe('The channels page of the console', () => {
  let test: TestConsole;
  let admin: ConsoleClient;
  let support: ConsoleClient;
  let email: string;
  let database: TestConsole['service']['database'];

  before(async () => {
    test = await startTestConsole();
    database = test.service.database;
    const member = await newMember(test, 'admin');
    email = member.email;
    admin = await logIn(test, member);
    support = await logIn(test, await newMember(test, 'support'));
    await Promise.all([admin.get('/'), support.get('/')]);
  });

  after(() => test.close());

  afterEach(() => rows(database, 'DELETE FROM paused_channels'));

  const pauseOf = async () => (await channelPauses(database)).get(M_PESA);

  it('shows each channel with its driver, limits, float and trouble', async () => {
    const merchant = await createTestMerchant(test.service);
    const payout = await newPayout(database, merchant);
    await storeFloat(database, payout.gateway, 123_450);
    await inTransaction(database, (trx) =>
      recordOperatorTrouble(trx, payout, 'no <b>float</b> for 254712345678'),
    );
    const page = await support.get('/channels');
    const words = wordsOf(page);
    expect(words)
      .to.include(`M-PESA (${M_PESA}), simulator`)
      .and.to.match(/M-PESA .* open /);
    expect(words).to.include('KES 1,234.50').and.to.include('payout: KES');
    expect(page.text).to.include('1 of our own in the last day');
    expect(page.text).to.include('no &lt;b>float&lt;/b> for 2547•••••678');
    expect(words).to.match(/Without a driver .*Equity \(68\)/);
    expect(page.text).to.not.include(PAUSE);
    expect((await admin.get('/channels')).text).to.include(PAUSE);
  });

  it('says what a pause and its end would do, and refuses what is so already', async () => {
    expect(previewIn(await admin.get(PAUSE))).to.include(
      'New payments of channel 63902 (M-PESA) are refused',
    );
    expect(previewIn(await admin.get(`${PAUSE}?only=payouts`))).to.include('New payouts of');
    expect((await admin.get(`${PAUSE}?only=nonsense`)).status).to.equal(422);
    const early = await admin.post(RESUME, { reason: REASON });
    expect([early.status, early.text.includes('is not paused')]).to.deep.equal([422, true]);
    expect(await pauseOf()).to.equal(undefined);

    const { status, location } = await admin.post(PAUSE, { reason: REASON });
    expect([status, location]).to.deep.equal([303, '/channels']);
    expect(await pauseOf()).to.include({ what: null, paused_by: email, reason: REASON });
    expect(wordsOf(await support.get('/channels'))).to.include('paused: everything');
    const twice = await admin.post(PAUSE, { reason: 'again' });
    expect([twice.status, twice.text.includes('paused already')]).to.deep.equal([422, true]);
    expect(previewIn(await admin.get(RESUME))).to.include('takes new payments again');
  });

  it('knows no other channel', async () => {
    for (const code of ['1000000', 'x', '%20']) {
      expect((await admin.get(`/channels/${code}/pause`)).status, code).to.equal(404);
    }
  });
});
