import { expect } from 'chai';
import type { Payout } from '../../src/domain/payments/kinds.ts';
import { clockTime } from '../../src/domain/period.ts';
import { logIn, newMember, startTestConsole, type TestConsole } from '../support/console.ts';
import type { ConsoleClient } from '../support/console-client.ts';
import { lastAudit } from '../support/console-text.ts';
import { newPayout } from '../support/payment-kinds.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';

describe('Payments by what a customer knows, at the console', () => {
  let test: TestConsole;
  let merchant: TestMerchant;
  let support: ConsoleClient;
  let one: Payout;
  let other: Payout;

  before(async () => {
    test = await startTestConsole();
    merchant = await createTestMerchant(test.service);
    const { database } = test.service;
    one = await newPayout(database, merchant, { payto: '+254712000678', amount_cents: 25_000 });
    other = await newPayout(database, merchant, { payto: '+254712000679', amount_cents: 25_100 });
    support = await logIn(test, await newMember(test, 'support'));
  });

  after(() => test.close());

  const day = clockTime(new Date(), 'EAT').slice(0, 'YYYY-MM-DD'.length);
  const look = (query: Record<string, string>) =>
    support.get(`/payments?${new URLSearchParams(query)}`);
  const found = async (query: Record<string, string>) => {
    const { status, text } = await look(query);
    expect(status).to.equal(200);
    return [one, other].map(({ id }) => text.includes(id));
  };

  it('are found by the end of the phone, the amount and the day', async () => {
    expect(await found({ since: day })).to.deep.equal([true, true]);
    expect(await found({ since: day, 'phone-ends': '678' })).to.deep.equal([true, false]);
    expect(await found({ since: day, amount: '251' })).to.deep.equal([false, true]);
    expect(await found({ since: day, amount: '251', 'phone-ends': '678' })).to.deep.equal([
      ...[false, false],
    ]);
    expect(await found({ phone: '0712 000 679' })).to.deep.equal([false, true]);
    const merchantOf = { since: day, merchant: String(merchant.merchant_id) };
    expect(await found({ ...merchantOf, state: 'pending' })).to.deep.equal([true, true]);
    expect(await found({ ...merchantOf, kind: 'collection' })).to.deep.equal([false, false]);
    expect(await found({ ...merchantOf, channel: '63903' })).to.deep.equal([false, false]);
  });

  it('are no list without a filter, and the search leads here', async () => {
    expect(await found({})).to.deep.equal([false, false]);
    for (const path of ['/search', '/search?q=nothing-known'])
      expect((await support.get(path)).text, path).to.include('href="/payments"');
  });

  it('show the hidden digits to nobody: a viewer may not look by them', async () => {
    const { text } = await look({ since: day, 'phone-ends': '678' });
    expect(text).to.include('+2547•••••678').and.to.not.include('712000678');
    const viewer = await logIn(test, await newMember(test, 'viewer'));
    expect((await viewer.get('/payments?phone-ends=678')).status).to.equal(403);
    expect((await viewer.get('/search')).text).to.not.include('href="/payments"');
  });

  it('refuse a filter that would read everything, or is none', async () => {
    for (const [query, why] of [
      [{ amount: '250' }, 'needs a phone, or a period'],
      [{ 'phone-ends': '678', since: '2020-01-01' }, 'of at most 31 days'],
      [{ amount: '250 KES', since: day }, 'Amount must be'],
      [{ 'phone-ends': '7x', since: day }, 'Phone ends must be the last 3 to 9 digits'],
      [{ since: day, until: '2020-01-01' }, 'must be before its end'],
    ] as const) {
      const { status, text } = await look(query);
      expect([status, text], why).to.satisfy(() => status === 400 && text.includes(why));
    }
  });

  it('are a read in the audit log, without the phone', async () => {
    await look({ phone: '0712000678' });
    const read = await lastAudit(test.service.database, true);
    expect(read).to.include({ action: 'payment.list', subject: 'payment' });
    expect(JSON.stringify(read)).to.not.include('712000678');
  });
});
