import { Readable } from 'node:stream';
import { expect } from 'chai';
import {
  MAX_LINES,
  readStatement,
  StatementFileError,
  type StatementFormat,
} from '../../../src/domain/reconciliation/statement-file.ts';

const HEADER = 'reference,trans_id,account,amount,completed_at,kind';
const GOOD = 'ref-1,QWE1,0712345678,100.00,2026-11-20T10:00:00,collection';

describe('A statement in a file', () => {
  function read(lines: string[], overrides: Partial<StatementFormat> = {}) {
    const defaults = { columns: {}, kind: undefined, utcOffset: '+03:00', isMobileMoney: true };
    return readStatement(
      Readable.from([lines.join('\n')]),
      { ...defaults, ...overrides },
      MAX_LINES,
    );
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

  it('must have the columns that the operator has named', async () => {
    expect(await problemOf([HEADER, GOOD], { columns: { amount: 'Paid In' } })).to.equal(
      'line 2: there is no column "Paid In"',
    );
  });

  const WRONG: [line: string, problem: RegExp][] = [
    [',,0712345678,100.00,2026-11-20T10:00:00,collection', /neither reference nor receipt/],
    ['ref-1,QWE1,0712345678,100.00,2026-11-20T10:00:00,charge', /neither collection, payout nor/],
    ['ref-1,QWE1,0712345678,1e3,2026-11-20T10:00:00,collection', /line 3/],
    ['ref-1,QWE1,0712345678,100.00,yesterday,collection', /line 3/],
  ];
  for (const [line, problem] of WRONG) {
    it(`counts as a whole or not at all: ${line}`, async () => {
      expect(await problemOf([HEADER, GOOD, line])).to.match(problem);
    });
  }
});
