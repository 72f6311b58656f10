import { Readable } from 'node:stream';
import { expect } from 'chai';
import {
  StatementFileError,
  type StatementFormat,
} from '../../../src/domain/reconciliation/statement-cells.ts';
import { MAX_LINES, readStatement } from '../../../src/domain/reconciliation/statement-file.ts';

const HEADER = 'reference,trans_id,account,amount,completed_at,kind';
const GOOD = 'ref-1,QWE1,0712345678,100.00,2026-11-20T10:00:00,collection';

describe('A statement in a file', () => {
  function readAll(lines: string[], overrides: Partial<StatementFormat> = {}) {
    const defaults = { columns: {}, kind: undefined, utcOffset: '+03:00', isMobileMoney: true };
    const format = { ...defaults, ...overrides };
    return readStatement(Readable.from([lines.join('\n')]), format, MAX_LINES);
  }

  async function read(...args: Parameters<typeof readAll>) {
    return (await readAll(...args)).lines;
  }

  async function problemOf(...args: Parameters<typeof read>): Promise<string> {
    const error = await read(...args).then(
      () => new Error('it was read'),
      (problem: Error) => problem,
    );
    expect(error).to.be.instanceOf(StatementFileError);
    return error.message;
  }

  it('is read line by line, with phones in E.164 and times in UTC', async () => {
    expect(await read([HEADER, GOOD])).to.deep.equal([
      {
        kind: 'collection',
        reference: 'ref-1',
        transId: 'QWE1',
        account: '+254712345678',
        amountCents: 10_000,
        completedAt: new Date('2026-11-20T07:00:00Z'),
      },
    ]);
  });

  it('has receipts without what nobody sees', async () => {
    const lines = ['QWE1', 'QWE\u200b2', '"QWE3 "', 'QWE4\u00a0'].map((each) =>
      GOOD.replace('QWE1', each),
    );
    expect(await transIds([HEADER, ...lines])).to.deep.equal(['QWE1', 'QWE2', 'QWE3', 'QWE4']);
  });

  it('has no receipt and no reference where a word stands for none', async () => {
    for (const none of ['-', '--', 'N/A', 'n/a', 'null', 'None', '0', '000', '#N/A', '#REF!']) {
      const line = GOOD.replace('QWE1', none);
      expect(await read([HEADER, line]), none).to.deep.include({
        ...(await read([HEADER, GOOD]))[0],
        transId: null,
      });
      expect(await problemOf([HEADER, line.replace('ref-1', none)])).to.equal(
        'line 2: has neither reference nor receipt',
      );
    }
  });

  it('is refused with a receipt or a reference that a spreadsheet has shortened', async () => {
    for (const short of ['2.02611E+15', '2,02611E+15', '2E15']) {
      for (const name of ['QWE1', 'ref-1']) {
        const quoted = `"${short}"`;
        expect(await problemOf([HEADER, GOOD.replace(name, quoted)]), short).to.include(
          `has ${short}, which a spreadsheet has shortened`,
        );
      }
    }
  });

  it('has phones that a spreadsheet has written with decimals', async () => {
    for (const phone of ['254712345678.0', '712345678.0', '0712.345.678']) {
      const [line] = await read([HEADER, GOOD.replace('0712345678', phone)]);
      expect(line!.account, phone).to.equal('+254712345678');
    }
  });

  it('is refused with a row of thousands of columns', async () => {
    const wide = 'x'.concat(','.repeat(60_000));
    expect(await problemOf([wide])).to.equal('line 1: has over 256 columns');
    expect(await problemOf([HEADER, wide])).to.equal('line 2: has over 256 columns');
  });

  it('is refused before a line of millions of columns is taken apart', async () => {
    const wide = ','.repeat(4_000_000);
    for (const lines of [[wide], [HEADER, wide]]) {
      expect(await problemOf(lines)).to.equal('has a line of over 65536 bytes');
    }
    const many = Array.from({ length: 2_000 }, (_, at) => GOOD.replace('QWE1', `QWE${at}`));
    expect(await transIds([HEADER, ...many])).to.have.length(2_000);
  });

  it('must have the columns that the operator has named', async () => {
    expect(await problemOf([HEADER, GOOD], { columns: { amount: 'Paid In' } })).to.equal(
      'line 2: there is no column "Paid In"',
    );
  });

  const transIds = async (lines: string[], overrides: Partial<StatementFormat> = {}) =>
    (await read(lines, overrides)).map(({ transId, isUndecided }) =>
      isUndecided ? `${transId} undecided` : transId,
    );
  /** A payout, with its receipt, amount and further columns. */
  const row = (transId: string, amount: string, ...more: string[]) =>
    [`ref-${transId}`, transId, '', amount, '2026-11-20T10:00:00', 'payout', ...more].join(',');

  it('has no movement in a row that is no success, whatever the column is called', async () => {
    for (const column of ['status', 'Status', 'Transaction Status', 'TRANSACTION STATUS']) {
      const states = ['Completed', 'SUCCESS', 'Failed', 'Declined', 'cancelled', 'Pending', ''];
      const rows = states.map((state, index) => row(`R${index}`, '1.00', state));
      expect(await transIds([`${HEADER},${column}`, ...rows]), column).to.deep.equal([
        ...['R0', 'R1', 'R5 undecided', 'R6 undecided'],
      ]);
    }
    const mapped = { columns: { status: 'State' } };
    const rows = [row('A', '1.00', 'failed'), row('B', '1.00', 'ok')];
    expect(await transIds([`${HEADER},State`, ...rows], mapped)).to.deep.equal(['B']);
    // A failure may have no amount.
    expect(await transIds([`${HEADER},status`, row('A', '', 'failed')])).to.deep.equal([]);
  });

  it('has no movement in a row of another currency', async () => {
    const rows = ['KES', 'UGX', 'Ksh', ''].map((currency, index) =>
      row(`R${index}`, '1.00', currency),
    );
    expect(await transIds([`${HEADER},Currency`, ...rows])).to.deep.equal(['R0', 'R2']);
  });

  it('is refused with both signs of one kind, because money that came back is no movement', async () => {
    const lines = [HEADER, row('A', '-5.00'), row('B', '-6.00'), row('C', '5.00')];
    expect(await problemOf(lines)).to.equal('line 4: has another sign than the payouts before it');
    expect(await transIds([...lines.slice(0, 3), GOOD])).to.deep.equal(['A', 'B', 'QWE1']);
    const charge = (amount: string) => row('A', amount).replace('payout', 'charge');
    expect(await problemOf([...lines.slice(0, 3), charge('-23.00'), charge('23.00')])).to.equal(
      'line 5: has another sign than the charges before it',
    );
  });

  it('has the charge of a receipt not as a movement, and a row that comes twice once', async () => {
    const rows = [
      row('A', '-1000.00', 'Business Payment to Customer'),
      row('A', '-22.40', 'Business Payment Charge'),
      row('B', '-300.00', 'School fees of Amina'),
      row('A', '-1000.00', 'Business Payment to Customer'),
    ];
    expect(await transIds([`${HEADER},Details`, ...rows])).to.deep.equal(['A', 'B']);
    const charge = row('A', '-22.40').replace('payout', 'charge');
    expect(await transIds([HEADER, row('A', '-1.00'), charge])).to.deep.equal(['A']);
  });

  it('has the charge of a receipt not as a movement, though the payment is about fees', async () => {
    const rows = [
      row('A', '-5.00', 'Business Payment Charge'),
      row('A', '-100.00', 'Business Payment to FEES OFFICE LTD'),
      row('B', '-300.00', 'School fees of Amina'),
    ];
    const lines = await read([`${HEADER},Details`, ...rows]);
    expect(
      lines.map(({ transId, amountCents, chargeCents }) => [transId, amountCents, chargeCents]),
    ).to.deep.equal([
      ['A', 10_000, 500],
      ['B', 30_000, undefined],
    ]);
  });

  it('has a fee of the account, whose receipt no payment has, as a row of the operator’s own', async () => {
    const header =
      'Receipt No.,Completion Time,Details,Transaction Status,Paid In,Withdrawn,Reason Type';
    const at = '2026-11-20 10:00:00';
    const rows = [
      `A,${at},Business Payment to 254712345678,Completed,,-100.00,Business Payment`,
      `A,${at},Business Payment Charge,Completed,,-5.40,Business Payment Charge`,
      `B,${at},Organization Monthly Fee,Completed,,-500.00,Monthly Fee`,
      `C,${at},Charge that came back,Completed,20.00,,Charge`,
      `D,${at},Organization Monthly Fee,Pending,,-500.00,Monthly Fee`,
    ];
    const { lines, own } = await readAll([header, ...rows]);
    expect(lines.map(({ transId, chargeCents }) => [transId, chargeCents])).to.deep.equal([
      ['A', 540],
      ['C', undefined],
    ]);
    expect(own.map(({ reference, amountCents }) => [reference, amountCents])).to.deep.equal([
      ['B', -50_000],
    ]);
  });

  it('has each payment of a receipt though all are about fees, and no charge of what is undecided', async () => {
    const header = 'Receipt No.,Completion Time,Details,Transaction Status,Paid In,Withdrawn';
    const at = '2026-11-20 10:00:00';
    const rows = [
      `A,${at},School fees,Completed,300.00,`,
      `A,${at},School fees of May,Completed,200.00,`,
      `A,${at},Pay Bill Charge,Completed,,-5.00`,
      `B,${at},School fees,Pending,1000.00,`,
      `B,${at},School fees,Completed,300.00,`,
      `C,${at},School fees,Completed,20.00,`,
      `C,${at},Pay Bill Charge,Completed,,-25.00`,
    ];
    const lines = await read([header, ...rows]);
    expect(
      lines.map(({ transId, amountCents, chargeCents }) => [transId, amountCents, chargeCents]),
    ).to.deep.equal([
      ['A', 30_000, 500],
      ['A', 20_000, 500],
      ['B', 100_000, undefined],
      ['B', 30_000, undefined],
      ['C', 2_000, 2_500],
    ]);
  });

  it('compares hidden digits of phones in one form', async () => {
    for (const phone of ['2547 ***** 126', '+2547*****126', '07*****126']) {
      const [line] = await read([HEADER, GOOD.replace('0712345678', phone)]);
      expect(line!.account, phone).to.equal('+2547*****126');
    }
  });

  it('reads phones in the forms of networks and spreadsheets, and what is no phone as none', async () => {
    const forms: [written: string, account: string | null][] = [
      ['712345678', '+254712345678'],
      ['2547 1234 5678', '+254712345678'],
      ['+254-712-345-678', '+254712345678'],
      ['00254712345678', '+254712345678'],
      ['0112345678', '+254112345678'],
      ['254712345678 - AMINA', '+254712345678'],
      ['+256712345678', '+256712345678'],
      ['2547XXXXX678', '+2547*****678'],
      // Two digits may be of anybody.
      ['254712***78', null],
      ['****5678', null],
      ['AMINA', null],
    ];
    for (const [written, account] of forms) {
      const [line] = await read([HEADER, GOOD.replace('0712345678', written)]);
      expect(line!.account, written).to.equal(account);
    }
  });

  it('reads the accounts of a bank without blanks, dashes and names, and what is no number as none', async () => {
    const forms: [written: string, account: string | null][] = [
      ['0110223344', '0110223344'],
      ['0110223344 - JANE DOE', '0110223344'],
      ['0110223344 JANE DOE', '0110223344'],
      ['0110223344-JANE DOE', '0110223344'],
      ['01-10-223344', '0110223344'],
      ['0110 223344', '0110223344'],
      ['KE12ABCD3344', 'KE12ABCD3344'],
      ['XXXXXX3344', null],
      ['JANE DOE', null],
      ['EQUITY BANK 0110223344', null],
      ['0110 JANE 223344', null],
      ['SHOP 24', null],
    ];
    for (const [written, account] of forms) {
      const row = GOOD.replace('0712345678', written);
      const [line] = await read([HEADER, row], { isMobileMoney: false });
      expect(line!.account, written).to.equal(account);
    }
  });

  const WRONG: [line: string, problem: RegExp][] = [
    [',,0712345678,100.00,2026-11-20T10:00:00,collection', /neither reference nor receipt/],
    ['ref-1,QWE1,0712345678,100.00,2026-11-20T10:00:00,gift', /neither collection, payout nor/],
    ['ref-1,QWE1,0712345678,1e3,2026-11-20T10:00:00,collection', /line 3/],
    ['ref-1,QWE1,0712345678,100.00,yesterday,collection', /line 3/],
  ];
  for (const [line, problem] of WRONG) {
    it(`counts as a whole or not at all: ${line}`, async () => {
      expect(await problemOf([HEADER, GOOD, line])).to.match(problem);
    });
  }
});
