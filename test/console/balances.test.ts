import { expect } from 'chai';
import { inTransaction } from '../../src/connections/database.ts';
import { hearBalances } from '../../src/domain/gateway-accounts/balances.ts';
import { closeDays } from '../../src/domain/gateway-accounts/close-day.ts';
import { keepOwnLines } from '../../src/domain/gateway-accounts/own-lines.ts';
import { logIn, newMember, startTestConsole, type TestConsole } from '../support/console.ts';
import type { ConsoleClient } from '../support/console-client.ts';
import { learn, newCollection, succeeded } from '../support/payments.ts';
import { createTestMerchant } from '../support/test-merchant.ts';

describe('The console on balances', () => {
  let test: TestConsole;
  let viewer: ConsoleClient;

  before(async () => {
    test = await startTestConsole();
    viewer = await logIn(test, await newMember(test, 'viewer'));
  });

  after(() => test.close());

  it('says that no gateway has told one', async () => {
    const { text } = await viewer.get('/balances');
    expect(text)
      .to.include('No gateway has told a balance')
      .and.include('No payment is on its way');
    expect(text).to.include('No day is closed yet');
    expect(text).to.not.include('Book a move');
  });

  it('shows what was told beside the ledger, and links what may explain a difference', async () => {
    const { database } = test.service;
    const merchant = await createTestMerchant(test.service);
    const collection = await newCollection(database, merchant);
    await learn(database, collection, succeeded({ externalRef: null }), 'support');
    const told = { sub_account: 'utility', current_cents: 0, available_cents: 0 } as const;
    await hearBalances(database, 'simulator', [told], new Date(Date.now() + 60_000));
    const { text } = await viewer.get('/balances');
    expect(text).to.include('KES 100.00').and.include('decided by hand: collection');
    expect(text).to.include(`"/payments/collection/${merchant.merchant_id}/${collection.id}"`);
    await closeDays(database, []);
    expect((await viewer.get('/balances')).text).to.include(
      `decided by hand: collection ${collection.id}`,
    );
    const admin = await logIn(test, await newMember(test, 'admin'));
    expect((await admin.get('/balances')).text).to.include('"/balances/move"');
  });

  it('links a sweep that no move explains to the move, filled in', async () => {
    const { database } = test.service;
    const row = { reference: 'SKL1G', amountCents: -20_000, toldAt: new Date() };
    await inTransaction(database, (trx) => keepOwnLines(trx, 'simulator/utility', [row]));
    const told = { sub_account: 'utility', current_cents: -20_000, available_cents: 0 } as const;
    await hearBalances(database, 'simulator', [told], new Date(Date.now() + 60_000));
    const admin = await logIn(test, await newMember(test, 'admin'));
    const { text } = await admin.get('/balances');
    const [, path] = /"(\/balances\/move\?[^"]*)"/.exec(text) ?? [];
    const form = await admin.get(path!.replaceAll('&amp;', '&'));
    expect(form.text)
      .to.include('KES 200.00 leave simulator/utility and come to bank')
      .and.include('value="SKL1G"');
  });
});
