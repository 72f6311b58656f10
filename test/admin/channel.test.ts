import { expect } from 'chai';
import { CHANNELS } from '../../src/domain/channels/channel.ts';
import { pausedChannels } from '../../src/domain/channels/channel-store.ts';
import { type AdminTester, createAdminTester, type Document } from '../support/admin.ts';

const M_PESA = 63902;
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
    expect(channels).to.deep.include({
      code: M_PESA,
      name: 'M-PESA',
      driver: 'simulator',
      paused: false,
    });
    expect(channels).to.deep.include({
      code: 63903,
      name: 'Airtel Money',
      driver: null,
      paused: false,
    });
    expect(text)
      .to.match(/^CODE +NAME +DRIVER +PAUSED\n/)
      .and.match(/^63902 +M-PESA +simulator +no$/m)
      .and.match(/^63903 +Airtel Money +- +no$/m);
  });

  it('pauses a channel and resumes it, once each', async () => {
    const pause = `channel pause --channel ${M_PESA}`;
    const resume = `channel resume --channel ${M_PESA}`;
    expect(await admin.change(pause)).to.equal('Channel 63902 (M-PESA) is paused now\n');
    expect([...(await pausedChannels(admin.database))]).to.deep.equal([M_PESA]);
    const about = { merchant_id: null, subject: 'channel 63902', details: { name: 'M-PESA' } };
    expect(await admin.lastAudit()).to.deep.equal({ action: 'channel.pause', ...about });
    const again = await admin.unchanged(() => admin.changeJson(pause));
    expect(again).to.deep.equal({ code: M_PESA, name: 'M-PESA', paused: true, changed: false });
    expect(await admin.text('channel list')).to.match(/^63902 .* yes$/m);

    const resumed = await admin.changeJson(resume);
    expect(resumed).to.deep.equal({ code: M_PESA, name: 'M-PESA', paused: false, changed: true });
    expect((await pausedChannels(admin.database)).size).to.equal(0);
    expect(await admin.lastAudit()).to.deep.equal({ action: 'channel.resume', ...about });
    expect(await admin.unchanged(() => admin.change(resume))).to.equal(
      'Channel 63902 (M-PESA) is open already: nothing was changed\n',
    );
  });
});
