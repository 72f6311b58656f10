import { expect } from 'chai';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import { loadConfig } from '../../src/service/service.ts';
import { type AdminTester, createAdminTester, type Document } from '../support/admin.ts';
import { makeEndpoint } from '../support/endpoints.ts';
import { newEvent, outcomeOf } from '../support/events.ts';
import { failEndpoint, recoverEndpoint } from '../support/notices.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';

const HELD = 'https://held.example';
const FAILING = 'https://failing.example:8443';
const WORKING = 'https://working.example';

describe('admin webhooks endpoints', () => {
  let admin: AdminTester;
  let merchant: TestMerchant;
  const config = loadConfig({ DATABASE_URL: 'postgres://unused' });

  before(async () => {
    admin = await createAdminTester();
    merchant = await createTestMerchant({ database: admin.database, config });
    const { merchant_id } = merchant;
    await makeEndpoint(admin.database, merchant_id, WORKING);
    const failing = { merchant_id, endpoint: FAILING };
    await failEndpoint(
      admin.database,
      failing,
      outcomeOf({ status: null, error: 'connect ECONNREFUSED' }),
      1,
    );
    await failEndpoint(admin.database, { merchant_id, endpoint: HELD });
    for (let n = 0; n < 2; n += 1) {
      await newEvent(admin.database, merchant, `${HELD}/hook?key=hush`);
    }
    await prepareDeliveries(admin.database, 0);
  });

  after(() => admin.close());

  const list = async (options = '') => {
    const { endpoints } = await admin.json(`webhooks endpoints ${options}`);
    return endpoints as Document[];
  };
  const namesOf = (found: Document[]) => found.map(({ endpoint }) => endpoint);

  it('shows those that are held first, with why, since when, and how many webhooks wait', async () => {
    const found = await list();
    expect(namesOf(found)).to.deep.equal([HELD, FAILING, WORKING]);
    const [held, failing, working] = found as [Document, Document, Document];
    const { failing_since, last_failure_at, next_probe_at, ...rest } = held;
    for (const time of [failing_since, last_failure_at, next_probe_at]) {
      expect(time).to.match(/^\d{4}-.*Z$/);
    }
    expect(rest).to.deep.equal({
      state: 'held',
      merchant_id: merchant.merchant_id,
      endpoint: HELD,
      last_status: 503,
      last_error: null,
      last_success_at: null,
      waiting: 2,
    });
    expect(failing).to.include({
      ...{ state: 'failing', last_status: null, last_error: 'connect ECONNREFUSED' },
      ...{ waiting: 0, next_probe_at: null },
    });
    expect(working).to.include({ state: 'working', failing_since: null, last_failure_at: null });
    const text = await admin.text('webhooks endpoints');
    expect(text)
      .to.match(
        /^STATE +MERCHANT +ENDPOINT +FAILING SINCE +LAST FAILURE +AT +LAST SUCCESS +WAITING +NEXT/,
      )
      .and.match(
        /^held +\d+ +https:\/\/held\.example +\d{4}-.* EAT +503 +\d{4}-.* EAT +- +2 +\d{4}-/m,
      )
      .and.match(/ connect ECONNREFUSED /)
      .and.match(/\(3 endpoints\)\n$/)
      .and.not.include('hush');
  });

  it('shows those of one merchant, or in one state', async () => {
    const other = await createTestMerchant({ database: admin.database, config });
    await makeEndpoint(admin.database, other.merchant_id, HELD);
    const ofOther = `--merchant ${other.merchant_id}`;
    expect(await list(ofOther)).to.have.length(1);
    expect((await list(ofOther))[0]).to.include({ state: 'working', endpoint: HELD });
    const ours = `--merchant ${merchant.merchant_id}`;
    expect(namesOf(await list(`${ours} --state held`))).to.deep.equal([HELD]);
    expect(namesOf(await list(`${ours} --state failing`))).to.deep.equal([FAILING]);
    expect(namesOf(await list(`${ours} --state working`))).to.deep.equal([WORKING]);
    expect(await admin.text(`webhooks endpoints ${ofOther} --state held`)).to.equal(
      'No endpoints\n',
    );
  });

  it('goes from page to page', async () => {
    const ours = `--merchant ${merchant.merchant_id} --limit 1`;
    const seen = [];
    let next: unknown = null;
    do {
      const after: string = next === null ? '' : `--after ${next}`;
      const page = await admin.json(`webhooks endpoints ${ours} ${after}`);
      seen.push(...namesOf(page.endpoints as Document[]));
      next = page.next;
    } while (next !== null);
    expect(seen).to.deep.equal([HELD, FAILING, WORKING]);
  });

  it('is a read that the audit log has', async () => {
    await admin.text('webhooks endpoints --state held');
    expect((await admin.reads()).at(-1)).to.include({ action: 'webhooks.endpoints' });
  });

  it('shows one as working again after a success, with what had failed', async () => {
    const third = await createTestMerchant({ database: admin.database, config });
    const ref = { merchant_id: third.merchant_id, endpoint: HELD };
    await failEndpoint(admin.database, ref);
    await recoverEndpoint(admin.database, ref);
    const [endpoint] = await list(`--merchant ${third.merchant_id}`);
    expect(endpoint).to.include({ state: 'working', failing_since: null, last_status: 503 });
    expect(endpoint!.last_success_at).to.match(/^\d{4}-.*Z$/);
  });
});
