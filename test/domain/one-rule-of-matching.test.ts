import { expect } from 'chai';
import {
  type Database,
  firstRow,
  hasRow,
  inTransaction,
  rows,
} from '../../src/connections/database.ts';
import { type AnyPayment, lockPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { matchLine } from '../../src/domain/reconciliation/match-line.ts';
import { IS_KNOWN, matchStatement } from '../../src/domain/reconciliation/match-statement.ts';
import {
  importStatement,
  type StatementLine,
  type StoredLine,
} from '../../src/domain/reconciliation/statement.ts';
import { askAfterFailure } from '../../src/domain/settlement/after-failure.ts';
import { expectSoundLedger } from '../support/ledger-check.ts';
import { newPayment, PAYMENT_KINDS } from '../support/payment-kinds.ts';
import {
  createTestStore,
  discrepanciesOf,
  failed,
  learn,
  PAYER,
  parserOf,
  reread,
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

  /** By what is known of the movement: it is told again by the gateway's statement. */
  const KNOWN: Readonly<
    Record<string, (payment: AnyPayment, transId: string) => Promise<unknown>>
  > = {
    'support has told': (payment, transId) => tell(payment, transId, 'support'),
    'a file has told': (payment, transId) =>
      keep(payment, { transId }, 'file.csv').then((of) =>
        matchStatement(database, { ...of, parserOf }),
      ),
    'nobody has told the time of': (payment, transId) =>
      learn(database, payment, succeeded({ transId, completedAt: null })),
    'came after a failure that is asked about': async (payment, transId) => {
      await learn(database, payment, failed());
      await tell(payment, transId, 'poll');
      await inTransaction(database, async (trx) =>
        askAfterFailure(trx, (await lockPayment(trx, refOf(payment)))!, {}, 0),
      );
    },
  };

  for (const kind of PAYMENT_KINDS) {
    for (const [what, make] of Object.entries(KNOWN)) {
      it(`has the same effects on a ${kind} with money that ${what}`, async () => {
        const effects: unknown[] = [];
        for (const path of ['fast', 'careful'] as const) {
          const payment = await newPayment(kind, database, merchant);
          const transId = newReceipt();
          await make(payment, transId);
          const of = await keep(payment, { transId }, 'gateway');
          if (path === 'fast') await matchStatement(database, { ...of, parserOf });
          else await matchLine(database, { ...of, parserOf }, (await lineOfImport(of))!);
          effects.push(await effectsOn(payment, of));
        }
        expect(effects[0]).to.deep.equal(effects[1]);
      });
    }
  }

  const tell = (payment: AnyPayment, transId: string, cause: string) =>
    learn(database, payment, succeeded({ transId, externalRef: null }), cause);

  async function keep(payment: AnyPayment, of: Partial<StatementLine>, source: string) {
    const gateway = 'simulator';
    const statement = {
      gateway,
      channel: 63902,
      period: DAY,
      source,
      lines: [lineOf(payment, of)],
    };
    const import_id = await inTransaction(database, (trx) => importStatement(trx, statement));
    return { import_id, gateway };
  }

  const lineOfImport = (of: { import_id: string }) =>
    firstRow<StoredLine>(
      database,
      'SELECT * FROM statement_lines WHERE import_id = :import_id',
      of,
    );

  async function effectsOn(payment: AnyPayment, of: { import_id: string }) {
    const { status, next_step, parked_reason } = await reread(database, payment);
    const movements = await rows(
      database,
      `SELECT booked, told_by, confirmed_by, completed_at FROM movements WHERE payment_id = :id`,
      payment,
    );
    const discrepancies = await discrepanciesOf(database, payment.id);
    const { result } = (await lineOfImport(of))!;
    return { status, next_step, parked_reason, movements, discrepancies, result };
  }

  async function judge(payment: AnyPayment, of: Partial<StatementLine>) {
    const receipt = of.transId === 'ANOTHER' ? newReceipt() : of.transId!;
    const bindings = await keep(payment, { ...of, transId: receipt }, 'test');
    const fast = await hasRow(
      database,
      `SELECT 1 FROM statement_lines l JOIN movements m ON ${IS_KNOWN}
       WHERE l.import_id = :import_id`,
      bindings,
    );
    await matchLine(database, { ...bindings, parserOf }, (await lineOfImport(bindings))!);
    const after = await lineOfImport(bindings);
    const contradictions = await discrepanciesOf(database, payment.id);
    const careful = after!.result === 'matched' && contradictions.length === 0;
    return { fast, careful };
  }
});
