import { databaseNow } from '../connections/database.ts';
import {
  type BankDifference,
  type BankStatement,
  bankDifferences,
  keepBankStatement,
  keepOwnLines,
  lastOf,
} from '../domain/gateway-accounts/own-lines.ts';
import { BANK } from '../domain/gateway-accounts/own-moves.ts';
import { kes } from '../domain/money.ts';
import type { OwnLine } from '../domain/reconciliation/statement.ts';
import { counted } from '../domain/text.ts';
import { VEILED } from '../domain/veil.ts';
import type { Service } from '../service/service.ts';
import { flag, optional, required, UsageError, type ValuesOf } from './field.ts';
import { define, type Look } from './operation.ts';
import * as read from './readers.ts';
import { FILE_FORM, file, parseFile } from './statement-file.ts';

/** A statement of the bank beside the ledger's account `bank`. */
export interface BankComparison {
  rows: number;
  differences: BankDifference[];
}

/** A larger file is no statement of some days: its rows wait for a second person in one request. */
const MAX_ROWS = 10_000;

const fields = {
  file: required('file', file, 'A CSV file of the bank with a header line'),
  keep: flag('keep', 'Keep the rows, and the last balance'),
  complete_until: optional(
    'complete-until',
    read.moment,
    'The file has all rows before this. Needed where its last row is older than five days',
  ),
  ...FILE_FORM,
};
type Values = ValuesOf<typeof fields>;

/** Compares a statement of the operator's bank with the books, and keeps its rows if told to. */
export const bankStatement = define({
  name: 'ledger.bank-statement',
  role: 'support',
  title: 'Compare a statement of the bank',
  summary: "Compares a bank's statement with top-ups, settlements and moves in the books",
  notes:
    'A row is known by its reference and its amount. Without --keep it only says what it would find. With --keep its rows and its last balance count for prove-world. It books nothing: what is missing in the books is booked with ledger move or wallet topup.',
  argument: 'file',
  fields,
  preview: async (look, values) => [
    ...(values?.keep ? linesOf(look, await readRows(look.service, values)) : []),
    'The rows of the statement are compared with the books. Nothing is booked.',
  ],
  twoPeople: 'to keep it',
  approval: async ({ service, time }, values) => {
    if (!values.keep) return null;
    const statement = await readRows(service, values);
    const last = lastOf(statement.lines);
    return {
      subject: `account ${BANK}, ${quoted(statement.file)}${last ? `, until ${time(last.toldAt)}` : ''}`,
      merchant_id: null,
      amount_cents: null,
      payload: statement,
      why: 'Nothing is kept now: another member must approve it first.',
    };
  },
  perform: async ({ audited, service }, values) => {
    const { database } = service;
    const statement = await readRows(service, values);
    const { length: rows } = statement.lines;
    const told = `${values.file.label} has ${counted(rows, 'row')}`;
    if (!values.keep) {
      const trx = await database.transaction();
      try {
        await keepOwnLines(trx, BANK, statement.lines);
        const row: BankComparison = { rows, differences: await bankDifferences(trx) };
        return { title: `${told}: nothing is kept`, row, isDone: false };
      } finally {
        await trx.rollback();
      }
    }
    const cents = await audited((trx) => keepBankStatement(trx, statement));
    const row: BankComparison = { rows, differences: await bankDifferences(database) };
    const notes = [cents === null ? NO_BALANCE : `The bank has told a balance of ${kes(cents)}`];
    return { title: `${told}, which are kept`, row, notes };
  },
});

const NO_BALANCE =
  'It tells no balance: its rows have none, a later row is known, or all of it is older than five days (complete-until)';

/** A file is read once: a pipe could give another one to the preview than to the request. */
const readBefore = new WeakMap<Values['file'], Promise<BankStatement>>();

function readRows(service: Service, values: Values): Promise<BankStatement> {
  const rows = readBefore.get(values.file) ?? readFile(service, values);
  readBefore.set(values.file, rows);
  return rows;
}

async function readFile(
  service: Service,
  { file, keep: _, complete_until, ...form }: Values,
): Promise<BankStatement> {
  const of = { ...form, isMobileMoney: false, isOwn: true };
  const { own } = await parseFile(service, file, of, MAX_ROWS);
  if (complete_until && complete_until > (await databaseNow(service.database))) {
    throw new UsageError(
      'No file has all rows before a moment that is still to come (complete-until)',
    );
  }
  return { file: file.name, lines: own, complete_until: complete_until ?? null };
}

/** Banks write shorter references, and people shorter names of files. */
const SHOWN_LENGTH = 60;

/** Writes a text that somebody else has chosen so that its ends are seen. */
function quoted(text: string): string {
  return JSON.stringify(text.slice(0, SHOWN_LENGTH));
}

/** Says what a second person must compare with the bank's own page. */
function linesOf(
  { time }: Look<unknown>,
  { file, lines, complete_until }: BankStatement,
): string[] {
  const last = lastOf(lines);
  const until = complete_until ? [`The file has all rows before ${time(complete_until)}.`] : [];
  if (!last) return [`${quoted(file)} has no row.`, ...until];
  const { balanceCents, reference, toldAt } = last;
  const balance = balanceCents == null ? 'no balance' : `the balance ${kes(balanceCents)}`;
  return [
    `${counted(lines.length, 'row')} of ${quoted(file)} are kept. The newest is ${VEILED.text(quoted(reference))} of ${time(toldAt)}, with ${balance}, which counts as the bank's word.`,
    ...sumsOf(lines),
    ...until,
  ];
}

/** Says how much the rows move, and whether the balances beside them agree: a row may be forged among others. */
function sumsOf(lines: readonly OwnLine[]): string[] {
  const amounts = lines.map(({ amountCents }) => amountCents);
  const sum = (cents: number[]) => kes(cents.reduce((total, each) => total + Math.abs(each), 0));
  const [came, went] = [amounts.filter((cents) => cents > 0), amounts.filter((cents) => cents < 0)];
  const largest = [...lines].sort((a, b) => Math.abs(b.amountCents) - Math.abs(a.amountCents))[0]!;
  const breaks = Math.min(breaksOf(lines), breaksOf(lines.toReversed()));
  return [
    `${sum(came)} come in, and ${sum(went)} go out. The largest row is ${VEILED.text(quoted(largest.reference))} of ${sum([largest.amountCents])}.`,
    ...endsOf(lines),
    ...(breaks > 0
      ? [
          `${counted(breaks, 'balance')} of it ${breaks === 1 ? 'does' : 'do'} not follow from the row before: ask the bank for the file.`,
        ]
      : []),
  ];
}

/** Says what no balance of the file proves: the balance before it, and the rows without one. */
function endsOf(lines: readonly OwnLine[]): string[] {
  const bare = lines.filter(({ balanceCents }) => balanceCents == null);
  const [oldest] = [...lines].sort((a, b) => a.toldAt.getTime() - b.toldAt.getTime());
  const { amountCents, balanceCents } = oldest!;
  if (bare.length === lines.length) return [];
  return [
    ...(balanceCents == null
      ? []
      : [`The balance before the oldest row was ${kes(balanceCents - amountCents)}.`]),
    ...(bare.length === 0
      ? []
      : [
          `${counted(bare.length, 'row')} of it ${bare.length === 1 ? 'has' : 'have'} no balance, ${kes(sumOf(bare))} in all: look for ${bare.length === 1 ? 'it' : 'them'} on the bank’s own page.`,
        ]),
  ];
}

const sumOf = (lines: readonly OwnLine[]) =>
  lines.reduce((total, { amountCents }) => total + Math.abs(amountCents), 0);

/** Counts the balances that do not follow from the balance before and the rows since then. */
function breaksOf(lines: readonly OwnLine[]): number {
  let [before, moved, breaks]: [number | null, number, number] = [null, 0, 0];
  for (const { amountCents, balanceCents } of lines) {
    moved += amountCents;
    if (balanceCents == null) continue;
    if (before !== null && balanceCents !== before + moved) breaks += 1;
    [before, moved] = [balanceCents, 0];
  }
  return breaks;
}
