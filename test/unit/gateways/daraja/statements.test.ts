import { expect } from 'chai';
import type { StatementResult } from '../../../../src/gateways/gateway.ts';
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

  function transIdsOf(result: StatementResult) {
    if (result.outcome !== 'lines') return result.reason;
    return result.lines.map(({ transId, isUndecided }) =>
      isUndecided ? `${transId} undecided` : transId,
    );
  }

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
        { ...READ, transId: 'C3', account: '+2547****126' },
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
      { ...LINE, transactiontype: undefined },
      { ...LINE, trxDate: '2020-08-06T00:00:00+00:00' },
      { ...LINE, trxDate: '2020-08-06T03:00:00Z' },
      { ...LINE, trxDate: '2020-08-04T23:59:59Z' },
      null,
    ];
    for (const line of wrong) {
      const result = await statement(page({ ...LINE, transactionId: 'A' }, line), EMPTY);
      expect(result, JSON.stringify(line)).to.include({ outcome: 'noAnswer' });
    }
  });

  it('have a row once, though it stands twice on a page or on the next', async () => {
    const [a, b, c] = ['A', 'B', 'C'].map((transactionId) => ({ ...LINE, transactionId }));
    const result = await statement(page(a, a, b), page(b, c), page(c), EMPTY);
    expect(transIdsOf(result)).to.deep.equal(['A', 'B', 'C']);
    expect(result).to.not.have.property('mayLack');
    expect(daraja.requests.map(({ body }) => body.OffSetValue)).to.deep.equal(['0', '3', '5', '6']);
  });

  it('name sweeps apart, as money that left the account', async () => {
    const sweep = { ...LINE, transactiontype: 'merchant-to-organization-settlement' };
    const rows = [
      LINE,
      { ...sweep, transactionId: 'S' },
      { ...sweep, transactionId: 'T', amount: 'x' },
    ];
    const result = await statement(page(...rows), EMPTY);
    expect(result).to.have.property('own').with.length(1);
    expect(result).to.have.nested.property('own[0].reference', 'S');
    expect(result).to.have.nested.property('own[0].amountCents').below(0);
  });

  it('leave out sweeps, charges, failures and other currencies', async () => {
    const rows = [
      { ...LINE, transactionId: 'A', currency: 'KES', transactionstatus: 'Completed' },
      { ...LINE, transactionId: 'B', transactiontype: 'merchant-to-organization-settlement' },
      { ...LINE, transactionId: 'C', transactiontype: 'c2b-charge' },
      { ...LINE, transactionId: 'D', transactionstatus: 'Declined' },
      { ...LINE, transactionId: 'E', currency: 'UGX' },
      { ...LINE, transactionId: 'F', transactionstatus: 'Pending Authorized' },
    ];
    const result = await statement(page(...rows), EMPTY);
    expect(transIdsOf(result)).to.deep.equal(['A', 'F undecided']);
  });

  const at = (transactionId: string, trxDate: string) => ({ ...LINE, transactionId, trxDate });
  async function timesOf(rows: object[], known: Record<string, string> = {}) {
    daraja.answers(200, page(...rows), EMPTY);
    const times = Object.entries(known).map(([id, time]) => [id, new Date(time)] as const);
    const result = await aGateway(daraja.client).statement!(START, END, async () => new Map(times));
    if (result.outcome !== 'lines') throw new Error(result.reason);
    const clocks = result.lines.map(({ completedAt }) => completedAt.toISOString().slice(11, 16));
    return { clocks, isCertain: !result.mayLack };
  }

  it('may have offsets in their times', async () => {
    const rows = [at('A', '2020-08-05T13:13:00+03:00'), at('B', '2020-08-05T10:13:00.000+0000')];
    expect(await timesOf(rows)).to.deep.equal({ clocks: ['10:13', '10:13'], isCertain: true });
  });

  it('may have Nairobi’s clock with a Z, as receipts that we know or the window tell', async () => {
    const rows = [at('A', '2020-08-05T13:13:00Z'), at('B', '2020-08-05T14:00:00Z')];
    const nairobi = { clocks: ['10:13', '11:00'], isCertain: true };
    expect(await timesOf(rows, { A: '2020-08-05T10:13:04Z' })).to.deep.equal(nairobi);
    const utc = { clocks: ['13:13', '14:00'], isCertain: true };
    expect(await timesOf(rows, { A: '2020-08-05T13:13:04Z' })).to.deep.equal(utc);
    expect(await timesOf(rows), 'nothing tells').to.deep.equal(utc);
    // It would lie after the window.
    const late = at('C', '2020-08-06T01:00:00Z');
    expect(await timesOf([...rows, late])).to.deep.equal({
      ...{ clocks: ['10:13', '11:00', '22:00'], isCertain: true },
    });
  });

  it('prove nothing by what they lack when both clocks are in use', async () => {
    const rows = [at('A', '2020-08-05T13:13:00Z'), at('B', '2020-08-05T14:00:00Z')];
    const known = { A: '2020-08-05T10:13:00Z', B: '2020-08-05T14:00:00Z' };
    expect(await timesOf(rows, known)).to.deep.equal({
      clocks: ['10:13', '14:00'],
      isCertain: false,
    });
  });

  it('take “Failed to retrieve transactions” for nothing, and for no proof', async () => {
    const none = { ResponseCode: '500', ResponseMessage: 'Failed to retrieve transactions' };
    for (const status of [200, 500]) {
      daraja.answers(status, none);
      const result = await aGateway(daraja.client).statement!(START, END);
      expect(result).to.deep.equal({ outcome: 'lines', lines: [], mayLack: true });
    }
    const afterPage = await statement(page(LINE), none);
    expect(afterPage).to.deep.equal({ outcome: 'lines', lines: [READ], mayLack: true });
    daraja.answers(500, { ResponseCode: '500', ResponseMessage: 'Internal error' });
    const failure = await aGateway(daraja.client).statement!(START, END);
    expect(failure).to.include({ outcome: 'noAnswer' });
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
