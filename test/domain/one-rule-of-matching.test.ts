import { expect } from 'chai';
import { type Database, firstRow, hasRow, inTransaction } from '../../src/connections/database.ts';
import type { AnyPayment } from '../../src/domain/payments/payment-store.ts';
import { matchLine } from '../../src/domain/reconciliation/match-line.ts';
import { IS_KNOWN } from '../../src/domain/reconciliation/match-statement.ts';
import {
  importStatement,
  type StatementLine,
  type StoredLine,
} from '../../src/domain/reconciliation/statement.ts';
import { expectSoundLedger } from '../support/ledger-check.ts';
import { newPayment, PAYMENT_KINDS } from '../support/payment-kinds.ts';
import {
  createTestStore,
  discrepanciesOf,
  learn,
  PAYER,
  parserOf,
  succeeded,
  type TestStore,
} from '../support/payments.ts';
import { lineOf, newReceipt } from '../support/statements.ts';
import type { TestMerchant } from '../support/test-merchant.ts';

const OTHER = '+254722000000';
const DAY = { from: '2026-11-20', to: '2026-11-20' };

/** By the difference to a line of the movement: what becomes of the line. */
const LINES: readonly [what: string, of: Partial<StatementLine>, isMatch: boolean][] = [
  ['all as booked', {}, true],
  ['no account', { account: null }, true],
  ['no reference', { reference: null }, true],
  ['neither', { reference: null, account: null }, true],
  ['another phone', { account: OTHER }, false],
  ['another phone and no reference', { account: OTHER, reference: null }, false],
  ['hidden digits', { account: '+2547*****678' }, true],
  ['hidden digits of another phone', { account: '+2547*****000' }, false],
  ['another amount', { amountCents: 1 }, false],
  ['another receipt', { transId: 'ANOTHER' }, false],
];

describe('A line of a statement is judged alike by the fast path and by the careful one', () => {
  let store: TestStore;
  let database: Database;
  let merchant: TestMerchant;

  before(async () => {
    store = await createTestStore();
    database = store.database;
    merchant = await store.newMerchant();
  });

  after(async () => {
    await expectSoundLedger(database);
    await store.drop();
  });

  for (const kind of PAYMENT_KINDS) {
    for (const told of [PAYER, null]) {
      for (const [what, of, isMatch] of LINES) {
        it(`${kind}, booked ${told ? 'with' : 'without'} a phone, line with ${what}`, async () => {
          const payment = await newPayment(kind, database, merchant);
          const transId = newReceipt();
          await learn(database, payment, succeeded({ transId, account: told }));
          const found = await judge(payment, { transId, ...of });
          expect(found).to.deep.equal({ fast: isMatch, careful: isMatch });
        });
      }
    }
  }

  async function judge(payment: AnyPayment, of: Partial<StatementLine>) {
    const gateway = 'simulator';
    const receipt = of.transId === 'ANOTHER' ? newReceipt() : of.transId!;
    const lines = [lineOf(payment, { ...of, transId: receipt })];
    const statement = { gateway, channel: 63902, period: DAY, source: 'test', lines };
    const import_id = await inTransaction(database, (trx) => importStatement(trx, statement));
    const bindings = { import_id, gateway };
    const fast = await hasRow(
      database,
      `SELECT 1 FROM statement_lines l JOIN movements m ON ${IS_KNOWN}
       WHERE l.import_id = :import_id`,
      bindings,
    );
    const select = 'SELECT * FROM statement_lines WHERE import_id = :import_id';
    const line = await firstRow<StoredLine>(database, select, bindings);
    await matchLine(database, { ...bindings, parserOf }, line!);
    const after = await firstRow<StoredLine>(database, select, bindings);
    const contradictions = await discrepanciesOf(database, payment.id);
    const careful = after!.result === 'matched' && contradictions.length === 0;
    return { fast, careful };
  }
});
