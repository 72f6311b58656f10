import { expect } from 'chai';
import { accountHash } from '../../src/domain/credentials/log-in-limit.ts';
import { loadConfig } from '../../src/service/service.ts';
import { type AdminTester, createAdminTester } from '../support/admin.ts';
import { ACTOR } from '../support/admin-usage.ts';
import { closedPortUrl } from '../support/gateway-fixtures.ts';
import { newCollection } from '../support/payments.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';

const PHONE = '+254722000777';

describe('A command that reads data of merchants and customers', () => {
  let admin: AdminTester;
  let merchant: TestMerchant;

  before(async () => {
    admin = await createAdminTester();
    const config = loadConfig({ DATABASE_URL: admin.url });
    merchant = await createTestMerchant({ database: admin.database, config });
    for (const ref_no of ['look-1', 'look-2']) {
      await newCollection(admin.database, merchant, { ref_no, payfrom: PHONE });
    }
  });

  after(() => admin.close());

  /** The lines of the audit log that a command leaves behind, without its actor. */
  async function readsOf(command: string | string[], status = 0): Promise<object[]> {
    const before = (await admin.reads()).length;
    const run = await admin.run(command);
    expect(run.status, run.stderr).to.equal(status);
    return (await admin.reads()).slice(before).map(({ actor, reason, ...read }) => {
      expect([actor, reason]).to.deep.equal([ACTOR, null]);
      return read;
    });
  }

  it('is in the audit log, with what was looked for, phones masked, and how many rows', async () => {
    const { merchant_id } = merchant;
    const keys = loadConfig({ DATABASE_URL: admin.url }).secretsKeys;
    const masked = '+254******777';
    const phone_hash = accountHash(keys, PHONE);
    expect(await readsOf(['payment', 'show', '0722 000 777'])).to.deep.equal([
      {
        ...{ action: 'payment.show', merchant_id: null, subject: `payment ${masked}` },
        details: { what: masked, phone_hash, rows: 2 },
      },
    ]);
    expect(await readsOf(`payment list --phone ${PHONE} --merchant ${merchant_id}`)).to.deep.equal([
      {
        ...{ action: 'payment.list', merchant_id, subject: 'payment' },
        details: { phone: masked, phone_hash, merchant_id, limit: 50, rows: 2 },
      },
    ]);
    expect(await readsOf(`merchant show ${merchant_id}`)).to.deep.equal([
      {
        ...{ action: 'merchant.show', merchant_id, subject: `merchant ${merchant_id}` },
        details: { merchant_id, rows: 1 },
      },
    ]);
    expect(await readsOf('audit list --csv --reads')).to.deep.equal([
      {
        ...{ action: 'audit.list', merchant_id: null, subject: 'audit' },
        details: { csv: true, reads: true, limit: 50, rows: null },
      },
    ]);
    expect(await admin.audits(), 'changes').to.deep.equal([]);
  });

  it('is also one that changes nothing, because it shows data all the same', async () => {
    const { merchant_id } = merchant;
    const approve = `merchant approve ${merchant_id} --reason because`;
    expect(await readsOf(approve)).to.deep.equal([
      {
        ...{ action: 'merchant.approve', merchant_id, subject: `merchant ${merchant_id}` },
        details: { merchant_id, rows: 1 },
      },
    ]);
  });

  it('is there also when nothing was found', async () => {
    expect(await readsOf('user show nobody@x.example', 1)).to.deep.equal([
      {
        ...{ action: 'user.show', merchant_id: null, subject: 'user nobody@x.example' },
        details: { email: 'nobody@x.example', rows: 0 },
      },
    ]);
  });

  it('is also a change that is refused, which says what is there', async () => {
    for (const verb of ['ask', 'doubt']) {
      const command = `payment ${verb} 0712345037 --reason because`;
      const [read, ...others] = await readsOf(command, 1);
      expect(others).to.deep.equal([]);
      expect(read).to.deep.include({ action: `payment.${verb}`, subject: 'payment +254******037' });
    }
  });

  it('is there also while Redis is away', async () => {
    const before = (await admin.reads()).length;
    const env = { REDIS_URL: (await closedPortUrl()).replace(/^http/, 'redis') };
    await admin.text('payment show look-1', { env });
    expect((await admin.reads()).slice(before)).to.have.length(1);
  });

  it('is not there for what concerns nobody', async () => {
    for (const command of ['channel list', 'ledger verify', 'merchant list --limit 0']) {
      expect(await readsOf(command, command.endsWith('0') ? 2 : 0), command).to.deep.equal([]);
    }
  });
});
