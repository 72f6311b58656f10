import { Readable } from 'node:stream';
import type { Payout } from '../../src/domain/payments/kinds.ts';
import { readStatement } from '../../src/domain/reconciliation/statement-file.ts';
import { casesOf } from '../../src/domain/support/discrepancy-cases.ts';
import { newReceipt } from './statements.ts';
import { toldIn } from './told.ts';
import { type StoreWorld, succeeded } from './world.ts';

const FORM = { columns: {}, kind: undefined, utcOffset: undefined, isMobileMoney: true };
const HEADER =
  'Receipt No.,Completion Time,Details,Transaction Status,Paid In,Withdrawn,Balance,Reason Type,Other Party Info';

/** Payouts whose money goes out and comes back, and the rows of M-PESA's portal for both. */
export function rowsBackIn(store: StoreWorld) {
  const told = toldIn(store);
  const { at, read, tell } = told;
  let phones = 0;
  let payout: Payout;
  let receipt: string;
  let row: string;

  /** Begins a payout to a phone of its own, with receipts for its money and for the row that brings it back. */
  async function fresh() {
    phones += 1;
    payout = await begun(`+2547120010${String(phones).padStart(2, '0')}`);
    [receipt, row] = [newReceipt(), newReceipt()];
    return { payout, receipt, row };
  }

  /** It was asked for before the gateway tells of it. */
  async function begun(payto: string): Promise<Payout> {
    const made = await store.newPayout({ payto });
    await store.rewrite(
      `UPDATE payouts SET created_at = created_at - interval '20 minutes' WHERE id = :id`,
      { id: made.id },
    );
    return store.reread(made);
  }

  const paid = (transId: string | null, moment = at(1), of = payout) =>
    tell(
      of,
      succeeded({ transId, externalRef: null, account: of.payto, completedAt: moment }),
      moment,
    );

  const clock = (moment: Date) =>
    new Date(moment.getTime() + 3 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ');

  const out = (
    of = receipt,
    reference: string | null = payout.reference,
    phone = payout.payto.slice(1),
  ) => {
    const named = reference === null ? '' : ` Original conversation ID is ${reference}.`;
    const party = `${phone} - JANE`;
    return `${of},${clock(at(1))},Business Payment to ${party}.${named},Completed,,100.00,1000.00,Business Payment to Customer,${party}`;
  };
  const back = (more: { of?: string; amount?: string; party?: string; moment?: Date } = {}) => {
    const { of = row, amount = '100.00', moment = at(5) } = more;
    const { party = `${payout.payto.slice(1)} - JANE` } = more;
    return `${of},${clock(moment)},Business Payment Reversal,Completed,${amount},,1000.00,Business Payment Reversal,${party}`;
  };

  const fileOf = (...rows: string[]) =>
    readStatement(Readable.from([`${[HEADER, ...rows].join('\n')}\n`]), FORM, 9);

  async function compare(...rows: string[]): Promise<void> {
    const file = await fileOf(...rows);
    await read(file.lines, `${newReceipt()}.csv`);
  }

  interface Question {
    id: string;
    kind: string;
    candidates: string[] | null;
  }
  const open = () =>
    store.rows<Question>(
      `SELECT id, kind, details->'candidates' AS candidates FROM discrepancies
       WHERE resolved_at IS NULL ORDER BY opened_at`,
    );
  const kinds = async () => (await open()).map(({ kind }) => kind);

  /** Support says that the money has come back, and the merchant has it again. */
  async function takeBack(of = payout): Promise<void> {
    for (let count = 1; count <= 2; count += 1) {
      const found = (await casesOf(store.database, of)).find(({ resolved_at }) => !resolved_at);
      if (found) await store.resolve(found, found.kind === 'undone_money' ? 'returned' : 'undo');
    }
    await store.refund(of);
  }

  return { ...told, back, begun, compare, fileOf, fresh, kinds, open, out, paid, takeBack };
}
