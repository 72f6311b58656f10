import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import type { StatementFormat } from '../../../src/domain/reconciliation/statement-cells.ts';
import { MAX_LINES, readStatement } from '../../../src/domain/reconciliation/statement-file.ts';
import { BUILT_IN } from '../../../src/domain/reconciliation/statement-profile.ts';
import { profilesFromFile } from '../../../src/process/statement-profiles.ts';
import { loadConfig } from '../../../src/service/service.ts';

const fixture = (name: string) =>
  createReadStream(new URL(`../../fixtures/${name}`, import.meta.url));

/** The narratives of banks about a transfer that has come back. */
const RETURNS = [
  ...['EFT RETURN 0123456789', 'INWARD RETURN', 'RTGS RETURNS', 'EFT REJECT', 'REV-EFT 0123456789'],
  ...['EFT - RETURNED - 0123', 'ACCOUNT CLOSED - RETURNED', 'Account invalid: returned'],
];

describe('A form of statement files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'malipo-profiles-'));
  after(() => rmSync(folder, { recursive: true }));

  const read = (source: Readable, overrides: Partial<StatementFormat> = {}) =>
    readStatement(
      source,
      {
        ...{ columns: {}, kind: undefined, utcOffset: undefined, isMobileMoney: true },
        ...overrides,
      },
      MAX_LINES,
    );

  async function briefly(...args: Parameters<typeof read>): Promise<string[]> {
    return (await read(...args)).lines.map((line) =>
      [
        ...[line.kind, line.transId, line.reference, line.account, line.amountCents],
        ...[line.completedAt.toISOString(), line.isUndecided ? 'undecided' : 'decided'],
      ].join(' '),
    );
  }

  it('is that of the M-PESA portal, with lines before its header, both directions and charges', async () => {
    expect(await briefly(fixture('m-pesa-portal.csv'))).to.deep.equal([
      'collection SKL1A  +254712345678 150000 2026-11-20T10:00:00.000Z decided',
      'collection SKL1B  +2547***126 25000 2026-11-20T10:05:10.000Z decided',
      'collection SKL1D  +254722000000 10000 2026-11-20T10:07:00.000Z undecided',
      'payout SKL1E 01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f +254733000111 200000 2026-11-20T11:00:00.000Z decided',
      'reversal SKL1F  +2547***126 25000 2026-11-20T12:00:00.000Z decided',
    ]);
  });

  it('is that of a bank, whose clock somebody must say', async () => {
    const bank = { isMobileMoney: false, utcOffset: '+03:00' };
    expect(await briefly(fixture('bank.csv'), bank)).to.deep.equal([
      'payout FT2632500001  1130000000 100000 2026-11-20T07:00:00.000Z decided',
      'collection FT2632500002   500000 2026-11-20T08:00:00.000Z decided',
    ]);
    const problem = await read(fixture('bank.csv')).catch((error: Error) => error.message);
    expect(problem).to.equal('needs the offset of its times (utc-offset)');
  });

  it('has references in place of receipts, if somebody says so', async () => {
    const bank = { isMobileMoney: false, utcOffset: '+03:00' };
    const [profile] = BUILT_IN.filter(({ name }) => name === 'bank');
    const columns = { reference: 'transaction reference' };
    const { lines, own } = await read(fixture('bank.csv'), {
      ...{ ...bank, profiles: [profile!], columns },
    });
    expect(lines.map(({ reference, transId }) => [reference, transId])).to.deep.equal([
      ['FT2632500001', null],
      // Words make no charge of it: other money may have the reference.
      ['FT2632500001', null],
      ['FT2632500002', null],
    ]);
    expect(own).to.deep.equal([]);
  });

  it("has the rows of the operator's own accounts apart, with their signs and balances", async () => {
    const ownOf = async (...args: Parameters<typeof read>) =>
      (await read(...args)).own.map(({ reference, amountCents, toldAt, balanceCents }) =>
        [reference, amountCents, toldAt.toISOString(), balanceCents].join(' '),
      );
    expect(await ownOf(fixture('m-pesa-portal.csv'))).to.deep.equal([
      'SKL1G -20000000 2026-11-20T17:00:00.000Z 4948275',
    ]);
    const bank = { isMobileMoney: false, utcOffset: '+03:00', isOwn: true };
    expect(await ownOf(fixture('bank.csv'), bank)).to.deep.equal([
      'FT2632500001 -100000 2026-11-20T07:00:00.000Z 900000',
      'FT2632500001 -3000 2026-11-20T07:00:00.000Z 897000',
      'FT2632500002 500000 2026-11-20T08:00:00.000Z 1397000',
    ]);
    const problem = await read(fixture('bank.csv'), { ...bank, utcOffset: undefined }).catch(
      (error: Error) => error.message,
    );
    expect(problem).to.include('line 3: lacks its reference, its amount, or its time');
  });

  it('is refused without its header, with a row that is cut off, and with money on both sides', async () => {
    const [portal] = BUILT_IN;
    const text = (...lines: string[]) => Readable.from([lines.join('\n')]);
    const problemOf = (source: Readable, overrides = {}) =>
      read(source, overrides).then(
        () => 'it was read',
        (error: Error) => error.message,
      );
    expect(await problemOf(text('a,b'), { profiles: [portal!] })).to.equal(
      'has no header of the profile m-pesa-portal, with Receipt No., Paid In, Withdrawn, Completion Time, Transaction Status',
    );
    const header = 'Receipt No.,Completion Time,Details,Transaction Status,Paid In,Withdrawn';
    const cut = text(header, 'SKL1A,20-11-2026 13:00:00,Pay Bill,Completed,1');
    expect(await problemOf(cut)).to.equal('line 2: has another number of cells than the header');
    const both = text(header, 'SKL1A,20-11-2026 13:00:00,Pay Bill,Completed,1.00,2.00');
    expect(await problemOf(both)).to.equal('line 2: has money on both sides');
    const none = text(header, 'SKL1A,20-11-2026 13:00:00,Pay Bill,Completed,0.00,');
    expect(await problemOf(none)).to.equal('line 2: has no amount');
  });

  describe('with a side for money in and one for money out', () => {
    const bank = { isMobileMoney: false, utcOffset: '+03:00' };
    const bankFile = (...rows: string[]) =>
      Readable.from([
        [
          'Transaction Date,Transaction Reference,Narrative,Debit,Credit',
          ...rows.map((row) => `2026-11-20 10:00:00,${row}`),
        ].join('\n'),
      ]);
    const portalFile = (...rows: string[]) =>
      Readable.from([
        [
          'Receipt No.,Completion Time,Details,Transaction Status,Paid In,Withdrawn,Reason Type',
          ...rows,
        ].join('\n'),
      ]);

    it('never takes money in for a charge, whatever the customer wrote', async () => {
      const file = bankFile('A,SCHOOL FEES JOHN,,500.00', 'B,COMMISSION JULY AGENT 7,20.00,');
      const [fees, commission] = (await read(file, bank)).lines;
      expect(fees).to.include({ kind: 'collection', transId: 'A', amountCents: 50_000 });
      expect(commission).to.include({ kind: 'payout', transId: 'B', amountCents: 2_000 });
    });

    it('takes the source’s own word for a charge, and less of it for one that came back', async () => {
      const row = (words: string, sides: string, reason: string) =>
        `S,20-11-2026 13:00:00,${words},Completed,${sides},${reason}`;
      const file = portalFile(
        row('Business Payment', ',-100.00', 'Business Payment'),
        row('Charge', ',-23.00', 'Business Payment Charge'),
        row('Charge taken back', '20.00,', 'Business Payment Charge'),
      );
      const { lines } = await read(file);
      expect(lines).to.have.length(1);
      expect(lines[0]).to.include({ kind: 'payout', amountCents: 10_000, chargeCents: 300 });
      const alone = portalFile(row('Charge', ',-23.00', 'Business Payment Charge'));
      expect((await read(alone)).lines).to.deep.equal([]);
    });

    it('is refused where a sign says that money was taken back', async () => {
      for (const [rows, problem] of [
        [['A,DEPOSIT,,-500.00'], 'line 2: has a negative amount of money in'],
        [
          ['A,PAID,700.00,', 'A,BOUNCED,-700.00,'],
          'line 3: has another sign than the payouts before it',
        ],
      ] as const) {
        const error = await read(bankFile(...rows), bank).catch((reason: Error) => reason);
        expect((error as Error).message).to.equal(problem);
      }
    });

    it('takes no words of a customer for a payout that came back, and a bank’s own words for one', async () => {
      const columns = { trans_id: 'Txn ID', completed_at: 'Date', paid_in: 'Credit' };
      const airtel = {
        ...{ name: 'airtel', utcOffset: '+03:00' },
        columns: { ...columns, withdrawn: 'Debit', details: 'Remarks' },
      };
      for (const words of ['unpaid rent May', 'Payment for returned items', 'Rejected goods']) {
        const lines = [
          'Txn ID,Date,Credit,Debit,Remarks',
          `A,2026-11-20 10:00:00,100.00,,"${words}"`,
        ];
        const file = Readable.from([lines.join('\n')]);
        const [line] = (await read(file, { profiles: [airtel] })).lines;
        expect(line).to.include({ kind: 'collection', amountCents: 10_000 });
        expect(line!.isUndecided).to.equal(undefined);
      }
      for (const words of [
        'PESALINK RETURNED FROM 254712001005',
        'RTN OF FT77',
        'EFT RVSL',
        ...RETURNS,
      ]) {
        const [line] = (await read(bankFile(`A,${words},,100.00`), bank)).lines;
        expect(line, words).to.include({ kind: 'reversal', hasComeBack: true });
      }
    });

    it('takes the side of a row for the truth, whatever a rule calls it', async () => {
      const rules = (kind: 'payout' | 'collection') => ({
        ...{ name: 'own-bank', utcOffset: '+03:00', rows: [{ words: /transfer/i, kind }] },
        columns: {
          ...{ trans_id: 'Txn ID', completed_at: 'Date', details: 'Remarks' },
          ...{ paid_in: 'Credit', withdrawn: 'Debit' },
        },
      });
      const file = (sides: string) =>
        Readable.from([
          `Txn ID,Date,Credit,Debit,Remarks\nA,2026-11-20 10:00:00,${sides},transfer`,
        ]);
      const [line] = (await read(file('100.00,'), { profiles: [rules('payout')] })).lines;
      expect(line).to.include({ kind: 'reversal', hasComeBack: true });
      const refused = await read(file(',100.00'), { profiles: [rules('collection')] }).catch(
        (error: Error) => error.message,
      );
      expect(refused).to.include('a collection that went out');
      const fees = bankFile('A,EFT RETURNED SCHOOL FEES,,100.00');
      expect((await read(fees, bank)).lines[0]).to.include({ hasComeBack: true });
    });

    describe('with a column of its own for the kind', () => {
      const own = async (header: string, ...lines: string[]) => {
        const file = Readable.from([`trans_id,completed_at,${header}\n${lines.join('\n')}\n`]);
        return read(file, { utcOffset: '+03:00' });
      };
      const AT = '2026-11-20 10:00:00';

      for (const kind of ['payout', 'reversal']) {
        it(`calls money of a ${kind} that comes in sent back`, async () => {
          const { lines } = await own('kind,paid_in,withdrawn', `A,${AT},${kind},100.00,`);
          expect(lines[0]).to.include({ kind: 'reversal', hasComeBack: true });
        });
      }

      it('believes the column: what goes out is no payout only because of its side', async () => {
        const { lines, own: operators } = await own(
          'kind,paid_in,withdrawn',
          ...[`A,${AT},reversal,,100.00`, `B,${AT},own,,5.00`, `C,${AT},charge,,7.00`],
          ...[`D,${AT},collection,10.00,`, `D,${AT},charge,,1.00`, `E,${AT},charge,3.00,`],
        );
        expect(lines.map(({ kind, transId }) => `${transId} ${kind}`)).to.deep.equal([
          ...['A reversal', 'D collection'],
        ]);
        expect(lines[1]).to.include({ chargeCents: 100 });
        expect(operators.map(({ amountCents }) => amountCents)).to.deep.equal([-500, -700, 300]);
      });

      it('refuses a kind that it does not know', async () => {
        const refused = await own('kind,paid_in,withdrawn', `A,${AT},swap,100.00,`).catch(
          (error: Error) => error.message,
        );
        expect(refused).to.include('line 2: is neither collection, payout nor reversal');
      });

      for (const reason of ['Refund of order 12', 'Return of deposit']) {
        it(`leaves a payout one whose reason is ${reason}`, async () => {
          const { lines } = await own('kind,amount,reason', `A,${AT},payout,100.00,${reason}`);
          expect(lines[0]).to.deep.include({ kind: 'payout', amountCents: 10_000 });
          expect(lines[0]).not.to.have.property('hasComeBack');
        });
      }

      it('calls what came in sent back if its reason says so, and no column knows better', async () => {
        const file = `trans_id,completed_at,amount,reason\nA,${AT},100.00,Returned\n`;
        const form = { kind: 'collection', utcOffset: '+03:00' } as const;
        const [line] = (await read(Readable.from([file]), form)).lines;
        expect(line).to.include({ kind: 'reversal', hasComeBack: true });
        const { lines } = await own('kind,amount,reason', `A,${AT},collection,100.00,Returned`);
        expect(lines[0]).to.include({ kind: 'collection' });
      });

      for (const reason of ['Returned', 'RTN', 'Business Payment Reversal']) {
        it(`calls a payout sent back whose reason is ${reason}`, async () => {
          const { lines } = await own('kind,amount,reason', `A,${AT},payout,100.00,${reason}`);
          expect(lines[0]).to.include({ kind: 'reversal', hasComeBack: true });
        });
      }

      it('takes a payout whose reason is a charge for the charge of its receipt', async () => {
        const { lines } = await own(
          'kind,amount,reason',
          ...[`A,${AT},payout,100.00,Payment`, `A,${AT},payout,5.00,Payment Charge`],
        );
        expect(lines).to.have.length(1);
        expect(lines[0]).to.include({ chargeCents: 500 });
      });
    });

    it('calls money that comes in sent back if all lines of the file are payouts', async () => {
      const file = 'trans_id,completed_at,paid_in,withdrawn\nA,2026-11-20 10:00:00,100.00,\n';
      const form = { kind: 'payout', utcOffset: '+03:00' } as const;
      const [line] = (await read(Readable.from([file]), form)).lines;
      expect(line).to.include({ kind: 'reversal', hasComeBack: true });
    });

    it('makes no charge of the other money of a batch that names fees', async () => {
      const amounts = async (...rows: string[]) =>
        (await read(bankFile(...rows), bank)).lines.map(({ amountCents }) => amountCents);
      const deposits = ['A,JANE SCHOOL FEES,,50.00', 'A,PETER RENT,,3000.00'];
      expect(await amounts(...deposits)).to.deep.equal([5_000, 300_000]);
      const transfers = ['A,EFT MARY SCHOOL FEES,1000.00,', 'A,EFT PETER,3000.00,'];
      expect(await amounts(...transfers)).to.deep.equal([100_000, 300_000]);
    });

    it('counts a charge that came back against its charge, in whatever order', async () => {
      const rows = [
        'S,20-11-2026 13:00:00,Business Payment to 254712001001,Completed,,100.00,Business Payment',
        'S,20-11-2026 13:00:01,Business Payment Charge,Completed,,5.00,Business Payment Charge',
      ];
      for (const reason of ['Business Payment Charge', 'Business Payment Charge Reversal']) {
        const back = `S,20-11-2026 14:00:00,${reason},Completed,5.00,,${reason}`;
        for (const each of [
          [...rows, back],
          [back, ...rows.toReversed()],
        ]) {
          expect((await read(portalFile(...each))).lines).to.have.length(1);
          expect((await read(portalFile(...each))).lines[0]).to.include({ chargeCents: 0 });
        }
      }
    });

    it('takes a charge that a bank gives back from its charge', async () => {
      const rows = ['A,EFT TO PETER,1000.00,', 'A,TRANSFER CHARGE,30.00,'];
      const { lines } = await read(bankFile(...rows, 'A,TRANSFER CHARGE REVERSAL,,30.00'), bank);
      expect(lines).to.have.length(1);
      expect(lines[0]).to.include({ kind: 'payout', chargeCents: 0 });
    });

    it('makes no charge of a payout for fees that has come back', async () => {
      const rows = ['A,SCHOOL FEES,100.00,', 'A,RETURNED SCHOOL FEES,,100.00'];
      const { lines } = await read(bankFile(...rows), bank);
      expect(lines.map(({ kind, hasComeBack }) => [kind, hasComeBack])).to.deep.equal([
        ['payout', undefined],
        ['reversal', true],
      ]);
    });

    it('finds the account in words in capitals', async () => {
      const file = bankFile('A,PESALINK TO 254712001005 - JANE,100.00,');
      const [line] = (await read(file, { ...bank, isMobileMoney: true })).lines;
      expect(line).to.include({ kind: 'payout', account: '+254712001005' });
    });

    it('leaves undecided a reversal that brings money in', async () => {
      const file = portalFile('S,20-11-2026 13:00:00,Reversal,Completed,100.00,,B2C Reversal');
      expect((await read(file)).lines[0]).to.include({ kind: 'reversal', isUndecided: true });
    });
  });

  it('is added by the operator in a file of JSON, which is checked at the start', async () => {
    const path = join(folder, 'profiles.json');
    const write = (content: unknown) =>
      writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    const columns = { trans_id: 'Txn', completed_at: 'When', paid_in: 'In', withdrawn: 'Out' };
    const airtel = { name: 'airtel', columns, utcOffset: '+03:00' };
    write([{ ...airtel, rows: [{ words: '^fee', kind: 'charge' }] }]);
    const profiles = [...profilesFromFile(path), ...BUILT_IN];
    const lines = [
      'Txn,When,In,Out,Details',
      'A,2026-11-20 13:00:00,,5.00,',
      'A,2026-11-20 13:00:00,,1.00,Fee',
    ];
    expect(await briefly(Readable.from([lines.join('\n')]), { profiles })).to.deep.equal([
      'payout A   500 2026-11-20T10:00:00.000Z decided',
    ]);

    const cases: [unknown, RegExp][] = [
      ['{', /names a file that is no JSON/],
      [[{ ...airtel, name: 'bank' }], /with two profiles bank/],
      [[{ ...airtel, colums: {} }], /wrong at 0: .*colums/],
      [[{ ...airtel, columns: { ...columns, sum: 'Sum' } }], /wrong at 0\.columns/],
      [[{ ...airtel, columns: { completed_at: 'When', paid_in: 'In' } }], /both paid_in and/],
      [[{ ...airtel, columns: { trans_id: 'Txn' } }], /must name completed_at/],
      [[{ ...airtel, rows: [{ words: '(', kind: 'charge' }] }], /is no regular expression/],
    ];
    for (const [content, words] of cases) {
      write(content);
      const start = () => loadConfig({ STATEMENT_PROFILES: path });
      expect(start, String(words)).to.throw(/ {2}STATEMENT_PROFILES names a file/);
      expect(start).to.throw(words);
    }
    expect(() => loadConfig({ STATEMENT_PROFILES: `${path}.none` })).to.throw(
      'STATEMENT_PROFILES names a file that cannot be read (ENOENT)',
    );
  });
});
