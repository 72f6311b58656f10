import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { createMerchant, requireMerchant } from '../../src/domain/merchants/merchant.ts';
import { walletBalances } from '../../src/domain/wallets/list-transactions.ts';
import { type AdminTester, createAdminTester, type Document } from '../support/admin.ts';
import { ACTOR } from '../support/admin-usage.ts';

const PHONE = '+254712345678';

describe('admin merchant', () => {
  let admin: AdminTester;

  before(async () => {
    admin = await createAdminTester();
  });

  after(() => admin.close());

  let count = 0;
  function newMerchant(): Promise<number> {
    count += 1;
    const details = { name: `M${count}`, email: `m${count}@x.example`, phone_number: PHONE };
    return createMerchant(admin.database, { ...details, approved: false });
  }

  it('says that there is none, or which there are, by their numbers', async () => {
    expect(await admin.text('merchant list')).to.equal('No merchants\n');
    const ids = [await newMerchant(), await newMerchant(), await newMerchant()];
    const idsOf = ({ merchants }: Document) =>
      (merchants as Document[]).map(({ merchant_id }) => merchant_id);
    const [text, rest] = await Promise.all([
      admin.text('merchant list --limit 2'),
      admin.json(`merchant list --limit 2 --after ${ids[0]}`),
    ]);
    const lines = text.split('\n');
    expect(lines[0]).to.match(/^ID +NAME +EMAIL +PHONE NUMBER +ACTIVE +APPROVED +PAYOUTS HELD$/);
    expect(lines[1]).to.match(/^\d+ +M1 +m1@x.example +\+2547•+678 +yes +no +no$/);
    expect(lines[3]).to.equal(`(2 merchants; there are more: --after ${ids[1]})`);
    expect(idsOf(rest)).to.deep.equal(ids.slice(1));
    expect(rest.next).to.equal(null);
  });

  it('creates one with two empty wallets', async () => {
    const text = await admin.change([
      ...['merchant', 'create', '--name', "Mama Njeri's Duka", '--email', 'njeri@x.example'],
      ...['--phone', PHONE, '--approved'],
    ]);
    const [, digits] = /^Merchant (\d+) created\n/.exec(text)!;
    const id = Number(digits);
    expect(text)
      .to.match(/name +Mama Njeri's Duka\n/)
      .and.match(/approved +yes\n/);
    expect(await walletBalances(admin.database, id)).to.deep.equal({ collection: 0, payout: 0 });
    const details = {
      name: "Mama Njeri's Duka",
      email: 'njeri@x.example',
      phone_number: PHONE,
      approved: true,
    };
    expect(await admin.lastAudit()).to.deep.equal({
      action: 'merchant.create',
      merchant_id: id,
      subject: `merchant ${id}`,
      details,
    });
    const [document, lines] = await Promise.all([
      admin.json(`merchant show --merchant ${id}`),
      admin.text(`merchant show --merchant ${id}`),
    ]);
    const { created_at, ...shown } = document;
    expect(Date.parse(created_at as string)).to.be.closeTo(Date.now(), 60_000);
    expect(shown).to.deep.equal({
      merchant_id: id,
      ...details,
      active: true,
      payouts_held: false,
      debt_limit: '0.00',
      commission_bps: null,
      commission_fixed: null,
      rate_limit_per_minute: null,
      rate_limit_burst: null,
      payout_limit_per_minute: null,
      payout_limit_burst: null,
      user_ip_allow_list: [],
      totp_required_for: [],
      wallets: { collection: '0.00', payout: '0.00' },
    });
    expect(lines)
      .to.match(/^Merchant \d+\n/)
      .and.match(/commission bps +150 \(default\)\n/)
      .and.match(/^Wallets:\n +collection +0\.00\n +payout +0\.00\n/m);
  });

  it('does not approve a new one by itself', async () => {
    const created = await admin.changeJson(
      `merchant create --name Duka --email d@x.example --phone ${PHONE}`,
    );
    expect(created).to.include({ approved: false, active: true });
  });

  const VERDICTS: [
    verb: string,
    column: 'approved' | 'active' | 'payouts_held',
    to: boolean,
    word: string,
  ][] = [
    ['approve', 'approved', true, 'approved'],
    ['suspend', 'active', false, 'suspended'],
    ['activate', 'active', true, 'active'],
    ['hold-payouts', 'payouts_held', true, 'kept from sending payouts'],
    ['release-payouts', 'payouts_held', false, 'free to send payouts'],
  ];

  it('approves, suspends and activates, holds payouts and releases them, once each', async () => {
    const id = await newMerchant();
    for (const [verb, column, to, word] of VERDICTS) {
      const command = `merchant ${verb} --merchant ${id}`;
      const document = await admin.changeJson(command);
      expect(document, verb).to.include({ merchant_id: id, [column]: to, changed: true });
      expect((await requireMerchant(admin.database, id))[column], verb).to.equal(to);
      expect(await admin.lastAudit()).to.deep.equal({
        action: `merchant.${verb}`,
        merchant_id: id,
        subject: `merchant ${id}`,
        details: { [column]: { from: !to, to } },
      });
      const again = await admin.unchanged(() => admin.change(command));
      expect(again).to.include(`Merchant ${id} is ${word} already: nothing was changed\n`);
    }
  });

  it('changes what is named, and gives it back to the configuration', async () => {
    const id = await newMerchant();
    const before = await requireMerchant(admin.database, id);
    const changed = await admin.changeJson(
      `merchant update --merchant ${id} --name Soko --email soko@x.example --phone +254112345678 --commission-bps 0 --commission-fixed 12.50 --debt-limit 500.00 --rate-per-minute 1 --rate-burst 100000 --payouts-per-minute 600 --payout-burst 500`,
    );
    const particulars = { name: 'Soko', email: 'soko@x.example', phone_number: '+254112345678' };
    expect(changed).to.include({
      ...particulars,
      commission_bps: 0,
      commission_fixed: '12.50',
      rate_limit_per_minute: 1,
      rate_limit_burst: 100_000,
      payout_limit_per_minute: 600,
      payout_limit_burst: 500,
      changed: true,
    });
    expect((await admin.lastAudit()).details).to.deep.equal({
      name: { from: before.name, to: 'Soko' },
      email: { from: before.email, to: 'soko@x.example' },
      phone_number: { from: PHONE, to: '+254112345678' },
      commission_bps: { from: null, to: 0 },
      commission_fixed_cents: { from: null, to: 1_250 },
      debt_limit_cents: { from: 0, to: 50_000 },
      rate_limit_per_minute: { from: null, to: 1 },
      rate_limit_burst: { from: null, to: 100_000 },
      payout_limit_per_minute: { from: null, to: 600 },
      payout_limit_burst: { from: null, to: 500 },
    });
    const back = `merchant update --merchant ${id} --commission-bps default --commission-fixed default --rate-per-minute default --rate-burst default --payouts-per-minute default --payout-burst default`;
    expect(await admin.change(back)).to.match(/rate limit burst +100 \(default\)\n/);
    expect(await requireMerchant(admin.database, id)).to.include({
      ...particulars,
      commission_bps: null,
      commission_fixed_cents: null,
      rate_limit_per_minute: null,
      rate_limit_burst: null,
      payout_limit_per_minute: null,
      payout_limit_burst: null,
    });
  });

  it('keeps the addresses of its users, and for what they need a one-time password', async () => {
    const id = await newMerchant();
    expect(await admin.text(`merchant show ${id}`)).to.match(/user ip allow list +anywhere\n/);
    const command = `merchant update ${id} --user-ips 203.0.113.7,2001:db8::/32 --require-totp transfers,payouts`;
    const rules = {
      user_ip_allow_list: ['203.0.113.7', '2001:db8::/32'],
      totp_required_for: ['payouts', 'transfers'],
    };
    expect(await admin.changeJson(command)).to.deep.include({ ...rules, changed: true });
    expect((await admin.lastAudit()).details).to.deep.equal({
      user_ip_allow_list: { from: [], to: rules.user_ip_allow_list },
      totp_required_for: { from: [], to: rules.totp_required_for },
    });
    await admin.unchanged(() => admin.change(command));
    const off = await admin.changeJson(`merchant update ${id} --user-ips none --require-totp none`);
    expect(off).to.deep.include({ user_ip_allow_list: [], totp_required_for: [] });
    const events = await rows(
      admin.database,
      `SELECT merchant_id, staff, detail FROM security_events
       WHERE kind = 'allow_list_changed' AND merchant_id = :id ORDER BY at, id`,
      { id },
    );
    const event = (from: number, to: number) => ({
      ...{ merchant_id: id, staff: ACTOR, detail: { addresses: { from, to } } },
    });
    expect(events).to.deep.equal([event(0, 2), event(2, 0)]);
  });

  it('refuses a merchant that is not there, and changes nothing', () =>
    admin.refused([
      ['merchant show --merchant 99', /^There is no merchant 99\n$/],
      ['merchant approve --merchant 999999999999999', 'There is no merchant 999999999999999'],
    ]));
});
