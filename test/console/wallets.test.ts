import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { walletBalances } from '../../src/domain/wallets/list-transactions.ts';
import {
  decideRequest,
  logIn,
  newMember,
  startTestConsole,
  type TestConsole,
} from '../support/console.ts';
import type { ConsoleClient } from '../support/console-client.ts';
import { expectSoundLedger } from '../support/ledger-check.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';

const REASON = 'Bank statement of 20 November';

describe('The wallets of the console', () => {
  let test: TestConsole;
  let first: ConsoleClient;
  let second: ConsoleClient;
  let support: ConsoleClient;
  let merchant: TestMerchant;
  let path: string;

  before(async () => {
    test = await startTestConsole();
    first = await logIn(test, await newMember(test, 'admin'));
    second = await logIn(test, await newMember(test, 'admin'));
    support = await logIn(test, await newMember(test, 'support'));
  });

  beforeEach(async () => {
    merchant = await createTestMerchant(test.service);
    path = `/merchants/${merchant.merchant_id}/wallets`;
  });

  after(async () => {
    await expectSoundLedger(test.testDatabase.database);
    await test.close();
  });

  const balances = () => walletBalances(test.testDatabase.database, merchant.merchant_id);
  const preview = (what: string, fields: Record<string, string>) =>
    first.get(`${path}/${what}?${new URLSearchParams(fields)}`);
  const ask = async (what: string, fields: Record<string, string>, reason = REASON) => {
    await first.get(`${path}/${what}`);
    return first.post(`${path}/${what}`, { ...fields, reason });
  };
  const openRequest = async () => {
    const found = await rows<{ id: string; preview: string }>(
      test.testDatabase.database,
      'SELECT id, preview FROM approvals WHERE merchant_id = :merchant_id AND decision IS NULL',
      merchant,
    );
    return found[0]!;
  };
  const approve = async (browser: ConsoleClient) => {
    const { id } = await openRequest();
    const decision = { as: 'approved', reason: 'Seen at the bank' };
    return decideRequest(test, browser, `/approvals/${id}`, decision);
  };

  it('tops up after a second admin has approved, and shows the balance before and after', async () => {
    const entry = { amount: '1500', reference: 'BANK-1' };
    const blank = await first.get(`${path}/top-up`);
    expect([blank.status, blank.text.includes('See what it would do')]).to.deep.equal([200, true]);
    const seen = (await preview('top-up', entry)).text;
    expect(seen).to.include('KES 1,500.00').and.include('another admin must approve');
    expect((await ask('top-up', entry)).location).to.match(/^\/approvals\/./);
    expect(await balances()).to.include({ payout: 0 });
    expect((await openRequest()).preview).to.include('It would be KES 1,500.00');
    expect((await approve(first)).status).to.equal(422);
    expect((await approve(support)).status).to.not.equal(303);
    expect(await balances()).to.include({ payout: 0 });
    expect((await approve(second)).status).to.equal(303);
    expect(await balances()).to.include({ payout: 150_000 });
    const [line] = await rows<object>(
      test.testDatabase.database,
      "SELECT subject, reason FROM audit_log WHERE action = 'wallet.topup' AND details ? 'balance_after'",
    );
    expect(line).to.deep.equal({
      subject: `payout wallet of merchant ${merchant.merchant_id}`,
      reason: REASON,
    });
    expect((await support.get(path)).text)
      .to.include('topup')
      .and.not.include('Adjust');
    expect((await preview('top-up', entry)).text).to.include('was booked before');
  });

  it('adjusts down, and never below zero, also when the money has gone meanwhile', async () => {
    await ask('top-up', { amount: '100', reference: 'A' });
    await approve(second);
    const entry = { wallet: 'payout', amount: '-60.00', reference: 'B' };
    expect((await ask('adjust', entry)).location).to.match(/^\/approvals\/./);
    expect((await ask('adjust', entry)).text).to.include('has asked for this already');
    expect((await approve(second)).status).to.equal(303);
    expect(await balances()).to.include({ payout: 4_000 });
    await ask('adjust', { ...entry, amount: '-30.00', reference: 'C' });
    const { id } = await openRequest();
    await ask('adjust', { ...entry, amount: '-20.00', reference: 'D' });
    await second.get('/approvals');
    const decision = { as: 'approved', reason: 'x' };
    const done = await decideRequest(test, second, `/approvals/${id}`, decision);
    expect(done.status).to.equal(303);
    expect((await approve(second)).text).to.include('would make it negative');
    expect(await balances()).to.include({ payout: 1_000 });
    expect((await preview('adjust', { ...entry, amount: '-50' })).status).to.equal(422);
  });

  it('asks nobody without the role, without a reason, and for what is no entry', async () => {
    expect((await support.get(`${path}/top-up`)).status).to.equal(403);
    expect((await support.post(`${path}/top-up`)).status).to.equal(403);
    const entry = { amount: '10', reference: 'X' };
    const cases: [Record<string, string>, string, RegExp][] = [
      [entry, '', /Give a reason/],
      [entry, 'Top-up \u202eof 50', /visible characters/],
      [entry, 'Top-up\u200b', /visible characters/],
      [entry, 'Top-up\u3164', /visible characters/],
      [{ ...entry, amount: '-10' }, REASON, /Amount must be/],
      [{ ...entry, amount: '1,000' }, REASON, /Amount must be/],
      [{ ...entry, reference: '<b>' }, REASON, /Reference must be/],
    ];
    for (const [fields, reason, words] of cases) {
      const { status, text } = await ask('top-up', fields, reason);
      expect([status, words.test(text)], String(words)).to.deep.equal([422, true]);
      expect(text).to.not.include('<b>');
    }
    expect(await openRequest()).to.equal(undefined);
  });
});
