import { expect } from 'chai';
import { topUpPayoutWallet } from '../../scripts/sandbox/top-up.ts';
import { inTransaction, rows } from '../../src/connections/database.ts';
import { createMerchant } from '../../src/domain/merchants/merchant.ts';
import { walletBalances } from '../../src/domain/wallets/list-transactions.ts';
import { bookOperatorEntry } from '../../src/domain/wallets/operator-entries.ts';
import { type AdminTester, createAdminTester, type Document } from '../support/admin.ts';
import { REASON } from '../support/admin-usage.ts';
import { accountBalance, expectSoundLedger } from '../support/ledger-check.ts';

describe('admin wallet', () => {
  let admin: AdminTester;
  let merchant_id: number;

  before(async () => {
    admin = await createAdminTester();
  });

  after(() => admin.close());

  beforeEach(async () => {
    merchant_id = await newMerchant();
  });

  function newMerchant(): Promise<number> {
    const details = { name: 'Duka', email: 'duka@x.example', phone_number: '+254712345678' };
    return createMerchant(admin.database, { ...details, approved: true });
  }

  afterEach(() => expectSoundLedger(admin.database));

  const topup = (rest: string) => `wallet topup --merchant ${merchant_id} ${rest}`;
  const adjust = (rest: string) => `wallet adjust --merchant ${merchant_id} ${rest}`;
  const balances = () => walletBalances(admin.database, merchant_id);
  const withoutTime = ({ booked_at, ...rest }: Document) => {
    expect(booked_at).to.be.a('string');
    return rest;
  };

  it('tops up the payout wallet, once per reference', async () => {
    const command = topup('--wallet payout --amount 250000.50 --reference BANK-1');
    const text = await admin.change(command);
    expect(text)
      .to.match(/^The top-up is booked\n/)
      .and.match(/amount +250000\.50\n/)
      .and.match(/balance after +250000\.50\n/);
    expect(await balances()).to.deep.equal({ collection: 0, payout: 25_000_050 });
    expect(await accountBalance(admin.database, merchant_id, 'bank')).to.equal(-25_000_050);
    expect(await admin.lastAudit()).to.deep.equal({
      action: 'wallet.topup',
      merchant_id,
      subject: `payout wallet of merchant ${merchant_id}`,
      details: {
        reference: 'BANK-1',
        against: 'bank',
        amount: '250000.50',
        balance_after: '250000.50',
      },
    });
    const repeated = await admin.unchanged(() => admin.change(command));
    expect(repeated).to.match(
      /^Reference BANK-1 was booked before: this is the first entry, and nothing was changed\n/,
    );
  });

  it('adjusts both wallets, up and down, against the bank account or the losses', async () => {
    const up = await admin.changeJson(adjust('--wallet payout --amount 80.00 --reference A-1'));
    expect(withoutTime(up)).to.deep.equal({
      merchant_id,
      type: 'adjustment',
      wallet: 'payout',
      amount: '80.00',
      balance_after: '80.00',
      reference: 'A-1',
      against: 'bank',
      repeated: false,
    });
    const down = adjust('--wallet payout --amount -80.00 --reference A-2');
    expect(await admin.change(down))
      .to.match(/^The adjustment is booked\n/)
      .and.match(/amount +-80\.00\n/);
    const below = adjust('--wallet collection --amount=-0.01 --reference A-3 --against losses');
    expect(await admin.changeJson(below)).to.include({ balance_after: '-0.01' });
    expect(await balances()).to.deep.equal({ collection: -1, payout: 0 });
    expect(await accountBalance(admin.database, merchant_id, 'bank')).to.equal(0);
    expect(await accountBalance(admin.database, merchant_id, 'losses')).to.equal(1);
    expect(await admin.lastAudit()).to.deep.equal({
      action: 'wallet.adjust',
      merchant_id,
      subject: `collection wallet of merchant ${merchant_id}`,
      details: {
        ...{ reference: 'A-3', against: 'losses' },
        ...{ amount: '-0.01', balance_after: '-0.01' },
      },
    });
    const seen = await rows(
      admin.database,
      `SELECT type, ref_no, counterparty, description FROM entries
       WHERE merchant_id = :merchant_id AND ref_no = 'A-2'`,
      { merchant_id },
    );
    expect(seen, 'what the merchant sees').to.deep.equal([
      { type: 'adjustment', ref_no: 'A-2', counterparty: null, description: REASON },
    ]);
  });

  it('books one of two top-ups that come at once with one reference', async () => {
    // The reference is another merchant's too: each has its own.
    const other = await newMerchant();
    await topUpPayoutWallet(admin.database, other, 1_000, 'SAME');
    const command = topup('--amount 10.00 --reference SAME');
    const answers = await Promise.all([admin.changeJson(command), admin.changeJson(command)]);
    expect(answers.map(({ repeated }) => repeated)).to.have.members([false, true]);
    expect(answers[0]!.booked_at).to.equal(answers[1]!.booked_at);
    for (const { repeated: _repeated, ...answer } of answers) {
      expect(withoutTime(answer)).to.deep.equal({
        merchant_id,
        type: 'topup',
        wallet: 'payout',
        amount: '10.00',
        balance_after: '10.00',
        reference: 'SAME',
        against: 'bank',
      });
    }
    expect((await balances()).payout).to.equal(1_000);
    const audits = (await admin.audits()).filter((audit) => audit.merchant_id === merchant_id);
    expect(audits).to.have.length(1);
  });

  it('refuses what cannot be, and books nothing', async () => {
    await inTransaction(admin.database, (trx) =>
      bookOperatorEntry(trx, {
        kind: 'topup',
        merchant_id,
        wallet: 'payout',
        amount_cents: 1_000,
        reference: 'R-1',
        reason: REASON,
      }),
    );
    const taken = `Reference R-1 of merchant ${merchant_id} is taken: it names a top-up of 10.00 on the payout wallet`;
    await admin.refused([
      [topup('--amount 10.01 --reference R-1'), taken],
      [adjust('--wallet payout --amount 10.00 --reference R-1'), taken],
      [adjust('--wallet collection --amount 10.00 --reference R-1'), taken],
      [
        adjust('--wallet payout --amount -10.01 --reference R-2'),
        `The payout wallet of merchant ${merchant_id} holds 10.00: an adjustment of -10.01 would make it negative`,
      ],
      ['wallet topup --merchant 99 --amount 10.00 --reference R-1', 'There is no merchant 99'],
    ]);
  });
});
