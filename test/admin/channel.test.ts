import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { CHANNELS } from '../../src/domain/channels/channel.ts';
import { pausedChannels } from '../../src/domain/channels/channel-store.ts';
import { type AdminTester, createAdminTester, type Document } from '../support/admin.ts';

const M_PESA = 63902;
const NOBODY = { paused_at: null, paused_by: null, reason: null };
const CONFIGURED = { env: { CHANNELS: `${M_PESA}=simulator` } };

describe('admin channel', () => {
  let admin: AdminTester;

  before(async () => {
    admin = await createAdminTester();
  });

  after(() => admin.close());

  it('lists every channel with its driver', async () => {
    const [{ channels }, text] = await Promise.all([
      admin.json('channel list', CONFIGURED),
      admin.text('channel list', CONFIGURED),
    ]);
    expect((channels as Document[]).map(({ code }) => code)).to.deep.equal(
      CHANNELS.map(({ code }) => code),
    );
    const open = { type: 'Mobile Money', paused: false, what: null, ...NOBODY };
    const [mPesa, airtel] = [
      { code: M_PESA, name: 'M-PESA', driver: 'simulator', ...open },
      { code: 63903, name: 'Airtel Money', driver: null, ...open },
    ];
    expect(channels).to.deep.include(mPesa).and.to.deep.include(airtel);
    expect(await admin.json('channel show 63903', CONFIGURED)).to.deep.equal(airtel);
    expect(text)
      .to.match(/^CODE +NAME +DRIVER +PAUSED +WHAT +SINCE +BY +REASON\n/)
      .and.match(/^63902 +M-PESA +simulator +no +- +- +- +-$/m)
      .and.match(/^63903 +Airtel Money +- +no +- +- +- +-$/m);
  });

  it('pauses what goes out only, and then the rest too', async () => {
    expect(await admin.changeJson(`channel pause ${M_PESA} --only payouts`)).to.include({
      changed: true,
    });
    expect(await admin.lastAudit()).to.deep.include({
      details: { name: 'M-PESA', what: 'payouts' },
    });
    expect(await admin.json(`channel show ${M_PESA}`)).to.deep.include({ what: ['payouts'] });
    const once = `channel pause ${M_PESA}`;
    expect(await admin.changeJson(`${once} --only payouts`)).to.include({ changed: false });
    expect(await admin.changeJson(once)).to.include({ changed: true });
    expect(await admin.json(`channel show ${M_PESA}`)).to.deep.include({ what: null });
    expect(await admin.changeJson(`${once} --only payouts`)).to.include({ changed: false });
    await admin.changeJson(`channel resume ${M_PESA}`);
  });

  it('pauses a channel and resumes it, once each', async () => {
    const pause = `channel pause --channel ${M_PESA}`;
    const resume = `channel resume --channel ${M_PESA}`;
    expect(await admin.change(pause)).to.equal('Channel 63902 (M-PESA) is paused now\n');
    expect([...(await pausedChannels(admin.database))]).to.deep.equal([M_PESA]);
    const about = {
      merchant_id: null,
      subject: 'channel 63902',
      details: { name: 'M-PESA' },
    };
    expect(await admin.lastAudit()).to.deep.equal({ action: 'channel.pause', ...about });
    const again = await admin.unchanged(() => admin.changeJson(pause));
    expect(again).to.deep.equal({ code: M_PESA, name: 'M-PESA', paused: true, changed: false });
    expect(await admin.text('channel list')).to.match(
      /^63902 .* yes +- +.* EAT +tester +because$/m,
    );
    const { paused_at, ...shown } = await admin.json(`channel show ${M_PESA}`);
    expect(paused_at).to.match(/^\d{4}-.*Z$/);
    expect(shown).to.include({ paused: true, paused_by: 'tester', reason: 'because' });
    expect(await admin.text(`channel show ${M_PESA}`))
      .to.match(/^Channel 63902 \(M-PESA\)\n/)
      .and.match(/ paused at +.* EAT\n +paused by +tester\n +reason +because$/m);

    const resumed = await admin.changeJson(resume);
    expect(resumed).to.deep.equal({ code: M_PESA, name: 'M-PESA', paused: false, changed: true });
    expect((await pausedChannels(admin.database)).size).to.equal(0);
    expect(await admin.lastAudit()).to.deep.equal({ action: 'channel.resume', ...about });
    expect(await admin.unchanged(() => admin.change(resume))).to.equal(
      'Channel 63902 (M-PESA) is open already: nothing was changed\n',
    );
    expect(await admin.json(`channel show ${M_PESA}`)).to.include({ paused: false, ...NOBODY });
  });

  it('names who paused it last, and nobody where the audit log does not know', async () => {
    const pause = `channel pause ${M_PESA} --actor`;
    await admin.text([...`${pause} first --reason`.split(' '), 'they are down']);
    await admin.change(`channel resume ${M_PESA}`);
    await admin.text([...`${pause} second --reason`.split(' '), 'down again']);
    const shown = await admin.json(`channel show ${M_PESA}`);
    expect(shown).to.include({ paused_by: 'second', reason: 'down again' });
    await rows(admin.database, 'UPDATE paused_channels SET paused_at = now()');
    const { paused_at, ...unknown } = await admin.json(`channel show ${M_PESA}`);
    expect(paused_at).to.be.a('string');
    expect(unknown).to.include({ paused: true, paused_by: null, reason: null });
    await admin.change(`channel resume ${M_PESA}`);
  });
});
