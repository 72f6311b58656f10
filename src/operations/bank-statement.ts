import {
  type BankDifference,
  bankDifferences,
  hearBankBalance,
  keepOwnLines,
} from '../domain/gateway-accounts/own-lines.ts';
import { BANK } from '../domain/gateway-accounts/own-moves.ts';
import { kes } from '../domain/money.ts';
import { counted } from '../domain/text.ts';
import { flag, required } from './field.ts';
import { define } from './operation.ts';
import { FILE_FORM, file, parseFile } from './statement.ts';

/** A statement of the bank beside the ledger's account `bank`. */
export interface BankComparison {
  rows: number;
  differences: BankDifference[];
}

/** Compares a statement of the operator's bank with the books, and keeps its rows if told to. */
export const bankStatement = define({
  name: 'ledger.bank-statement',
  role: 'support',
  title: 'Compare a statement of the bank',
  summary: "Compares a bank's statement with top-ups, settlements and moves in the books",
  notes:
    'A row is known by its reference and its amount. Without --keep it only says what it would find. With --keep its rows and its last balance count for prove-world. It books nothing: what is missing in the books is booked with ledger move or wallet topup.',
  argument: 'file',
  fields: {
    file: required('file', file, 'A CSV file of the bank with a header line'),
    keep: flag('keep', 'Keep the rows, and the last balance'),
    ...FILE_FORM,
  },
  preview: () => ['The rows of the statement are compared with the books. Nothing is booked.'],
  perform: async ({ audited, service }, { file, keep, ...form }) => {
    const { database } = service;
    const { own } = await parseFile(service, file, { ...form, isMobileMoney: false, isOwn: true });
    const told = `${file.label} has ${counted(own.length, 'row')}`;
    if (!keep) {
      const trx = await database.transaction();
      try {
        await keepOwnLines(trx, BANK, own);
        const row: BankComparison = { rows: own.length, differences: await bankDifferences(trx) };
        return { title: `${told}: nothing is kept`, row, isDone: false };
      } finally {
        await trx.rollback();
      }
    }
    await audited(async (trx) => {
      await keepOwnLines(trx, BANK, own);
      const details = { file: file.name, rows: own.length };
      return { value: null, audit: { merchant_id: null, subject: `account ${BANK}`, details } };
    });
    const cents = await hearBankBalance(database, own);
    const row: BankComparison = { rows: own.length, differences: await bankDifferences(database) };
    const notes = cents !== null && [`The bank has told a balance of ${kes(cents)}`];
    return { title: `${told}, which are kept`, row, notes: notes || [] };
  },
});
