import { expect } from 'chai';
import { CHANNELS } from '../../src/domain/channels/channel.ts';
import { pauseChannel, resumeChannel } from '../../src/domain/channels/channel-store.ts';
import { scrape, sumOf } from '../support/metrics.ts';
import { BAD_PAGE, BAD_PAGE_SIZE, expectBadValues } from '../support/query-cases.ts';
import { expectRefusal, useService } from '../support/world.ts';

const MPESA = 63902;
const AIRTEL = 63903;

describe('Channels', () => {
  const env = { CHANNELS: `${MPESA}=simulator,1=simulator` };
  const service = useService({ env, merchant: 'all' });

  const activeCodes = async () => {
    const { body } = await service.client.get('/channels');
    const all = body.results as { code: number; active: boolean }[];
    return all.filter(({ active }) => active).map(({ code }) => code);
  };

  it('are all listed with their rules', async () => {
    const { status, body } = await service.client.get('/channels');
    expect(status).to.equal(200);
    expect(body).to.include({ count: CHANNELS.length, next: null, previous: null });
    expect(body.results.map(({ code }: { code: number }) => code)).to.deep.equal(
      CHANNELS.map(({ code }) => code),
    );
    const ANY = {
      active: true,
      min_amount: '1.00',
      max_amount: '999999.99',
      whole_shillings: false,
    };
    expect(body.results[0]).to.deep.equal({
      code: MPESA,
      name: 'M-PESA',
      type: 'Mobile Money',
      active: true,
      min_amount: '1.00',
      max_amount: '999999.99',
      whole_shillings: false,
      collections: ANY,
      payouts: ANY,
    });
    const equity = body.results.find(({ code }: { code: number }) => code === 68);
    expect(equity).to.include({ name: 'Equity', type: 'Bank', active: false });
    const kcb = body.results.find(({ code }: { code: number }) => code === 1);
    expect(kcb).to.deep.include({ active: true, collections: null, payouts: ANY });
  });

  it('come in pages that lead on and back', async () => {
    const codes: number[] = [];
    let path: string | null = '/channels?page_size=10';
    let previous: string | null = null;
    while (path) {
      const { body }: { body: { next: string; previous: string; results: { code: number }[] } } =
        await service.client.get(path);
      expect(body.previous === null).to.equal(codes.length === 0);
      codes.push(...body.results.map(({ code }) => code));
      previous = body.previous;
      path = body.next?.slice(service.baseUrl.length) ?? null;
    }
    expect(codes).to.deep.equal(CHANNELS.map(({ code }) => code));
    expect(previous).to.match(/[?&]page=3(&|$)/);
    const beyond = await service.client.get('/channels?page=2');
    expect(beyond.body).to.include({ count: CHANNELS.length, next: null });
    expect(beyond.body.results).to.deep.equal([]);
  });

  it('refuse a bad value by its parameter’s name', async () => {
    await expectBadValues(service.client, '/channels', {
      page: BAD_PAGE,
      page_size: BAD_PAGE_SIZE,
    });
  });

  it('without driver are not active, and take nothing', async () => {
    expect(await activeCodes()).to.deep.equal([MPESA, 1]);
    const answer = await service.client.initiate({ payfrom: '+254733123456' });
    expectRefusal(answer, 400, `Channel is not available: ${AIRTEL}`);
  });

  it('that are paused are not active and take nothing until they are resumed', async () => {
    await service.transaction((trx) => pauseChannel(trx, MPESA));
    expect(await activeCodes()).to.deep.equal([1]);
    const before = await service.countOf('collections');
    const body = { ref_no: 'paused-1' };
    const key = { 'idempotency-key': 'paused-1' };
    for (const headers of [{}, key]) {
      const answer = await service.client.initiate(body, headers);
      expectRefusal(answer, 503, 'Service temporarily unavailable');
      expect(Number(answer.headers.get('retry-after'))).to.be.within(1, 60);
    }
    expect(await service.countOf('collections')).to.equal(before);
    const samples = await scrape(service.meters.registry);
    const refused = (code: string) => sumOf(samples, 'malipo_http_refusals_total', { code });
    expect([refused('channel_paused'), refused('unavailable')]).to.deep.equal([2, undefined]);
    await service.transaction((trx) => resumeChannel(trx, MPESA));
    expect(await activeCodes()).to.deep.equal([MPESA, 1]);
    expect((await service.client.initiate(body, key)).status).to.equal(200);
  });
});
