import { Readable } from 'node:stream';
import { stringify } from 'csv-stringify/sync';
import { type Database, inTransaction } from '../../src/connections/database.ts';
import { type Reconciliation, reconcile } from '../../src/domain/reconciliation/reconcile.ts';
import {
  FROM_GATEWAY,
  importStatement,
  type StatementLine,
} from '../../src/domain/reconciliation/statement.ts';
import { MAX_LINES, readStatement } from '../../src/domain/reconciliation/statement-file.ts';
import { timesOfReceipts } from '../../src/domain/settlement/receipts.ts';
import type { Fields } from '../../src/gateways/daraja/messages.ts';
import { dateRows, readRow } from '../../src/gateways/daraja/pull-rows.ts';
import { DAY_MS, HOUR_MS } from '../../src/time.ts';
import type { History } from './history.ts';

/** The form of a statement: our own columns, the export of M-PESA's portal, or the Pull API's rows. */
export const FORMS = ['own', 'portal', 'pull'] as const;
export type Form = (typeof FORMS)[number];

const ALL = ['collection', 'payout', 'reversal'] as const;
/** Differs from the tariff. */
export const TOLD_CHARGE_CENTS = 700;
const EAT_MS = 3 * HOUR_MS;
const GATEWAY = 'simulator';

/**
 * Writes down in a form what the gateway says that it has moved, reads it with the form's reader, and
 * reconciles by it. Nobody has lost a line, unless the statement is empty.
 */
export async function compareForm(
  database: Database,
  told: History,
  { form, names, isEmpty }: { form: Form; names: 'ours' | 'its own'; isEmpty: boolean },
): Promise<void> {
  const moved = isEmpty ? [] : told.world.statementNaming(names);
  if (form === 'pull') {
    const lines = await pulled(database, told, moved);
    await compare(database, told, { lines, source: FROM_GATEWAY, covers: ['collection'] });
  } else {
    const isOwn = form === 'own';
    const text = stringify(isOwn ? ownRows(moved) : portalRows(moved));
    // The portal's clock is known.
    const utcOffset = isOwn ? '+00:00' : undefined;
    const format = { columns: {}, kind: undefined, utcOffset, isMobileMoney: true };
    const { lines } = await readStatement(Readable.from(text), format, MAX_LINES);
    await compare(database, told, { lines, source: 'file.csv', covers: ALL });
  }
}

/**
 * Reconciles with what the gateway says that it has moved. Some lines come twice, some hide digits
 * of the phone, and some stand there once more as undecided.
 */
export function reconcileWith(
  database: Database,
  told: History,
  lines: StatementLine[],
): Promise<Reconciliation> {
  const listed = lines.flatMap((line, index): StatementLine[] => {
    const account = line.account?.replace(/^(\+254\d)\d*(\d{3})$/, '$1*****$2') ?? null;
    const shown = index % 4 === 1 ? { ...line, account } : line;
    if (index % 3 === 0) return [shown, line];
    return index % 3 === 1 ? [shown] : [{ ...line, isUndecided: true }, shown];
  });
  // By a file money goes nowhere automatically.
  const source = lines.length % 2 === 0 ? FROM_GATEWAY : 'file.csv';
  return compare(database, told, { lines: listed, source, covers: ALL });
}

interface Statement {
  lines: StatementLine[];
  source: string;
  covers: readonly StatementLine['kind'][];
}

/** Imports a statement of the world's day, which is complete, and reconciles by it. */
export async function compare(
  database: Database,
  told: History,
  { lines, source, covers }: Statement,
): Promise<Reconciliation> {
  const period = { from: told.world.day, to: told.world.day };
  const options = { gateway: GATEWAY, channel: 63902, period };
  const import_id = await inTransaction(database, (trx) =>
    importStatement(trx, { ...options, source, lines }),
  );
  return reconcile(database, {
    ...options,
    import_id,
    covers,
    complete_until: new Date(),
    settling_window_ms: 0,
    answer_window_ms: 0,
    ask: async (payment) =>
      (await told.gateway.query({ payment, askedAt: new Date() }, 'answered')).result,
    parserOf: told.gateway.parserOf,
  });
}

/** Some rows come twice, some stand there once more as pending, and each has a twin that failed. */
function withNoise<Row>(rows: Row[], as: (row: Row, status: string) => string[]): string[][] {
  return rows.flatMap((row, index) => [
    as(row, 'Failed'),
    ...(index % 3 === 1 ? [as(row, 'Pending')] : []),
    as(row, 'Completed'),
    ...(index % 3 === 0 ? [as(row, 'Completed')] : []),
  ]);
}

const shillings = (cents: number) => (cents / 100).toFixed(2);

function ownRows(moved: StatementLine[]): string[][] {
  const header = 'reference,trans_id,account,amount,completed_at,kind,status'.split(',');
  const rows = withNoise(moved, ({ kind, reference, account, ...line }, status) => {
    const amount = `${kind === 'collection' ? '' : '-'}${shillings(line.amountCents)}`;
    const time = line.completedAt.toISOString();
    return [reference ?? '', line.transId ?? '', account ?? '', amount, time, kind, status];
  });
  return [header, ...rows];
}

/** The portal names our reference for payouts only. A charge is a row of its own. */
function portalRows(moved: StatementLine[]): string[][] {
  const header =
    'Receipt No.,Completion Time,Details,Transaction Status,Paid In,Withdrawn,Reason Type,Other Party Info';
  const rows = withNoise(moved, ({ kind, reference, account, ...line }, status) => {
    const phone = maskedEvery(line.transId!, account!.slice(1));
    const amount = shillings(line.amountCents);
    const [details, paidIn, withdrawn, reason] = {
      collection: [`Pay Bill from ${phone} - JANE DOE Acc. INV-1`, amount, '', 'Pay Utility'],
      payout: [
        `Business Payment to ${phone} - JANE DOE via API. Original conversation ID is ${reference}.`,
        ...['', `-${amount}`, 'Business Payment to Customer via API'],
      ],
      reversal: [`Reversal to ${phone} - JANE DOE`, '', `-${amount}`, 'Pay Utility Reversal'],
    }[kind] as [string, string, string, string];
    const begin = [line.transId!, eatTime(line.completedAt)];
    return [...begin, details, status, paidIn, withdrawn, reason, `${phone} - JANE DOE`];
  });
  const charges = moved.map(({ transId, completedAt }) => {
    const charge = `-${shillings(TOLD_CHARGE_CENTS)}`;
    const begin = [transId!, eatTime(completedAt), 'Pay Bill Charge', 'Completed'];
    return [...begin, '', charge, 'Pay Utility Charge', ''];
  });
  return [['Organization Name:', 'DUKA'], header.split(','), ...rows, ...charges];
}

/** Hides digits of every other receipt's phone. */
function maskedEvery(receipt: string, phone: string): string {
  return isEven(receipt) ? phone.replace(/^(\d{4})\d*(\d{3})$/, '$1 ***** $2') : phone;
}

const isEven = (receipt: string) => Number(receipt.at(-1)) % 2 === 0;

function eatTime(time: Date): string {
  const [, year, month, day, clock] = /^(\d+)-(\d+)-(\d+)T([\d:]+)/.exec(
    new Date(time.getTime() + EAT_MS).toISOString(),
  )!;
  return `${day}-${month}-${year} ${clock}`;
}

/** The Pull API lists what customers have paid, by the receipt alone, and by one of two clocks. */
async function pulled(database: Database, { world }: History, moved: StatementLine[]) {
  const sent = moved.filter(({ kind }) => kind === 'collection');
  const items = sent.flatMap(({ transId, account, amountCents, completedAt }, index): Fields[] => {
    const time = index % 2 === 0 ? completedAt : new Date(completedAt.getTime() + EAT_MS);
    const item = {
      transactionId: transId,
      trxDate: `${time.toISOString().slice(0, 'yyyy-MM-ddTHH:mm:ss'.length)}Z`,
      msisdn: maskedEvery(transId!, account!.slice(1)),
      transactiontype: 'c2b-pay-bill-debit',
      amount: shillings(amountCents),
    };
    const sweep = { ...item, transactiontype: 'b2b-sweep' };
    return [item, sweep, { ...item, transactionstatus: index % 3 === 0 ? 'Failed' : 'Pending' }];
  });
  const found = items
    .map(readRow)
    .flatMap((row) => (row && typeof row === 'object' && 'line' in row ? row : []));
  const start = new Date(`${world.day}T00:00:00Z`);
  const window = { start, end: new Date(start.getTime() + DAY_MS) };
  const receipts = sent.map(({ transId }) => transId!);
  const known = await timesOfReceipts(database, GATEWAY, receipts);
  return dateRows(found, window, known)!.lines;
}
