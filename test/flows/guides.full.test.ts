import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { topUpPayoutWallet } from '../../scripts/sandbox/top-up.ts';
import { openDatabase } from '../../src/connections/database.ts';
import { clientOf } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { type FakeMerchant, startFakeMerchant } from '../support/fake-merchant.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';
import { startTestService, type TestService } from '../support/test-service.ts';

const WALLET_CENTS = 10_000_000;
const run = promisify(execFile);

describe('The guides for merchants', () => {
  let service: TestService;
  let merchant: TestMerchant;
  let shop: FakeMerchant;

  before(async () => {
    service = await startTestService({ backend: 'postgres' });
    merchant = await createTestMerchant(service);
    shop = await startFakeMerchant();
    const database = openDatabase(service.config.databaseUrl, 1);
    await topUpPayoutWallet(database, merchant.merchant_id, WALLET_CENTS, 'guides');
    await database.destroy();
  });

  after(async () => {
    await shop?.close();
    await service?.close();
  });

  /** Runs a sample of a guide as a reader would, with the receiver of this test. */
  async function runSample(guide: string, name: string): Promise<Record<string, unknown>> {
    const text = readFileSync(new URL(`../../docs/guides/${guide}.md`, import.meta.url), 'utf8');
    const sample = new RegExp(`<!-- sample: ${name} -->\\n\`\`\`sh\\n(.+?)\`\`\``, 's').exec(
      text,
    )![1]!;
    const script = sample.replaceAll('http://127.0.0.1:9000/webhooks', shop.url);
    const { baseUrl: BASE } = service;
    const env = { ...process.env, BASE, ACCESS: merchant.access };
    const { stdout } = await run('bash', ['-c', script], {
      env: { ...env, APP_CODE: String(merchant.app_code) },
    });
    return JSON.parse(stdout);
  }

  const told = (ref_no: string) =>
    eventually(`the webhook of ${ref_no}`, async () => shop.webhooksFor(ref_no).at(0)?.payload);

  it('take a payment, give it back, and pay out by the samples as they stand', async () => {
    expect(await runSample('take-a-payment', 'collection')).to.include({ status: 'pending' });
    expect((await told('order-1042'))!.data.result_code).to.equal(0);
    expect(await runSample('take-a-payment', 'day')).to.include({ count: 0 });
    const reversal = await runSample('give-back', 'reversal');
    expect(reversal.status).to.be.oneOf([0, 1]);
    expect((await told('back-1042'))!.data.result_code).to.equal(0);
    expect(await runSample('pay-out', 'payout')).to.include({ ref_no: 'wage-77' });
    expect((await told('wage-77'))!.data.result_code).to.equal(0);
  });

  it('get the first answer again when they repeat a request', async () => {
    const [first, again] = [
      await runSample('pay-out', 'payout'),
      await runSample('pay-out', 'payout'),
    ];
    expect(again).to.deep.equal(first);
    const { body } = await clientOf(service, merchant).get('/payouts?ref_no=wage-77');
    expect(body.results).to.have.length(1);
  });
});
