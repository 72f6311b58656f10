import { expect } from 'chai';
import { aConfig, aGateway, clientOf, SHORTCODE, startDaraja } from './daraja-support.ts';

const START = new Date('2020-08-05T00:00:00Z');
const END = new Date('2020-08-06T00:00:00Z');
const LINE = {
  transactionId: 'yzlyrEsRG1',
  trxDate: '2020-08-05T10:13:00Z',
  msisdn: 722000000,
  sender: 'MPESA',
  transactiontype: 'c2b-pay-bill-debit',
  billreference: '37207636392',
  amount: '168.00',
  organizationname: 'Daraja Pull API Test',
};
const READ = {
  kind: 'collection',
  reference: null,
  account: '+254722000000',
  amountCents: 168_00,
  transId: 'yzlyrEsRG1',
  completedAt: new Date('2020-08-05T10:13:00Z'),
};
const EMPTY = { ResponseCode: '1001', ResponseMessage: 'No transactions', Response: '[[]]' };
const page = (...lines: unknown[]) => ({ ResponseCode: '1000', Response: [lines] });

describe('statements of Daraja', () => {
  let daraja: Awaited<ReturnType<typeof startDaraja>>;
  const { now } = Date;
  before(async () => {
    daraja = await startDaraja();
    Date.now = () => END.getTime();
  });
  after(async () => {
    Date.now = now;
    await daraja.close();
  });

  it('are no answer about days that Daraja has forgotten', async () => {
    daraja.answers(200, EMPTY);
    const dayBefore = new Date(START.getTime() - 24 * 3_600_000);
    const old = await aGateway(daraja.client).statement!(dayBefore, START);
    expect(old).to.include({ outcome: 'noAnswer' });
    expect(daraja.requests).to.be.empty;
  });

  const statement = (...pages: unknown[]) => {
    daraja.answers(200, ...pages);
    return aGateway(daraja.client).statement!(START, END);
  };

  it('need a nominated number, and list collections only', () => {
    expect(aGateway(daraja.client).statementCovers).to.deep.equal(['collection']);
    const bare = aGateway(daraja.client, aConfig({ nominated_number: undefined }));
    expect(bare).to.not.have.any.keys('statement', 'statementCovers');
  });

  it('are read page by page, by Nairobi’s time', async () => {
    const other = { ...LINE, transactionId: 'B2', trxDate: '2020-08-05 13:13:00', amount: 233.8 };
    const third = { ...LINE, transactionId: 'C3', msisdn: '2547****126' };
    const result = await statement(page(LINE, other), page(third), EMPTY);
    expect(result).to.deep.equal({
      outcome: 'lines',
      lines: [
        READ,
        { ...READ, transId: 'B2', amountCents: 233_80 },
        { ...READ, transId: 'C3', account: null },
      ],
    });
    expect(daraja.requests.map(({ body }) => body.OffSetValue)).to.deep.equal(['0', '2', '3']);
    expect(daraja.requests[0]).to.deep.equal({
      path: '/pulltransactions/v1/query',
      body: {
        ShortCode: SHORTCODE,
        StartDate: '2020-08-05 03:00:00',
        EndDate: '2020-08-06 02:59:59',
        OffSetValue: '0',
      },
    });
  });

  it('may be empty, which proves nothing: an unregistered shortcode lists nothing either', async () => {
    for (const empty of [EMPTY, { ...EMPTY, Response: [[]] }, page(), { ResponseCode: 1001 }]) {
      const nothing = { outcome: 'lines', lines: [], mayLack: true };
      expect(await statement(empty)).to.deep.equal(nothing);
    }
  });

  it('are no answer when a line cannot be read', async () => {
    const wrong = [
      { ...LINE, amount: 'x' },
      { ...LINE, amount: '0' },
      { ...LINE, transactionId: null },
      { ...LINE, trxDate: 'yesterday' },
      { ...LINE, transactiontype: 'b2c' },
      { ...LINE, trxDate: '2020-08-06T00:00:00Z' },
      { ...LINE, trxDate: '2020-08-04T23:59:59Z' },
      null,
    ];
    for (const line of wrong) {
      const result = await statement(page({ ...LINE, transactionId: 'A' }, line), EMPTY);
      expect(result, JSON.stringify(line)).to.include({ outcome: 'noAnswer' });
    }
  });

  it('are no answer when a page is missing or comes twice', async () => {
    const answers = [
      [page(LINE), { ResponseCode: '1002' }],
      [page(LINE), '<html>'],
      [page(LINE), { ResponseCode: '1000', Response: 'x' }],
      [page(LINE), { ...EMPTY, Response: [[LINE]] }],
      [page(LINE), page(LINE)],
    ];
    for (const pages of answers) {
      expect(await statement(...pages)).to.include({ outcome: 'noAnswer' });
    }
  });
});

describe('a driver of Daraja', () => {
  const client = clientOf('http://127.0.0.1:9');

  it('says what its shortcode can do', () => {
    const gateway = aGateway(client);
    expect(gateway.name).to.equal('daraja-174379');
    expect(gateway.resubmit('payout')).to.equal('safe');
    for (const kind of ['collection', 'reversal', 'return'] as const) {
      expect(gateway.resubmit(kind)).to.equal('never');
    }
    expect(gateway.amounts).to.deep.equal({
      collection: { minCents: 1_00, maxCents: 250_000_00, stepCents: 1_00 },
      payout: { minCents: 10_00, maxCents: 250_000_00, stepCents: 1_00 },
    });
    const bare = { passkey: undefined, initiator: undefined, security_credential: undefined };
    expect(aGateway(client, aConfig(bare)).amounts).to.deep.equal({});
  });
});
