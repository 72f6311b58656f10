import { v7 as uuidv7 } from 'uuid';
import { type Database, firstRow, hasRow, type Transaction } from '../../connections/database.ts';
import type { AuditedChange } from '../audit/audit.ts';
import { OperatorRefusal } from '../errors.ts';
import { SUB_ACCOUNTS } from '../gateway-results.ts';
import { type Account, OPERATOR, postNewJournal } from '../ledger/post-journal.ts';
import { formatAmount } from '../money.ts';

/** The operator's account with its bank. */
export const BANK = 'bank' as const;
/** The operator's own money elsewhere: what the bank began with, its charges, and what is paid out. */
const CAPITAL = 'capital';
/** Money that is lost. A move from it takes back a loss that was booked wrongly. */
const LOSSES = 'losses';
/** The accounts that are named in the ledger as operators name them. */
const NAMED: readonly string[] = [BANK, CAPITAL, LOSSES];

/** Money that the operator moved between its own accounts. */
export interface OwnMove {
  /** Unique, as the bank or the gateway names the move. */
  reference: string;
  /** `bank`, `capital`, `losses`, or a gateway and its sub-account, such as GATEWAY/utility. */
  from_account: string;
  to_account: string;
  amount_cents: number;
}

/** @throws OperatorRefusal for an account that the operator has not */
export function requireOwnAccounts(
  { from_account, to_account }: OwnMove,
  gateways: string[],
): void {
  const known = [
    ...NAMED,
    ...gateways.flatMap((name) => SUB_ACCOUNTS.map((sub) => `${name}/${sub}`)),
  ];
  for (const account of [from_account, to_account]) {
    if (known.includes(account)) continue;
    throw new OperatorRefusal(`There is no account ${account}: there are ${known.join(', ')}`);
  }
  if (from_account === to_account) throw new OperatorRefusal('The two accounts are the same');
}

/**
 * Tells whether a move is booked.
 * @throws OperatorRefusal when another move has its reference
 */
export async function isMoveBooked(
  database: Database | Transaction,
  move: OwnMove,
): Promise<boolean> {
  const first = await firstRow<OwnMove>(
    database,
    'SELECT * FROM own_moves WHERE reference = :reference',
    move,
  );
  if (!first) return false;
  const isSame =
    first.from_account === move.from_account &&
    first.to_account === move.to_account &&
    first.amount_cents === move.amount_cents;
  if (isSame) return true;
  throw new OperatorRefusal(
    `Reference ${move.reference} is taken: it names ${formatAmount(first.amount_cents)} from ${first.from_account} to ${first.to_account}`,
  );
}

/**
 * Books a move, once per reference, with the line for the audit log.
 * @returns whether it was booked now
 * @throws OperatorRefusal when another move has its reference
 */
export async function bookOwnMove(
  trx: Transaction,
  { reference, from_account, to_account, amount_cents }: OwnMove,
): Promise<AuditedChange<boolean>> {
  const move = { reference, from_account, to_account, amount_cents };
  const id = uuidv7();
  const isNew = await hasRow(
    trx,
    `INSERT INTO own_moves (id, reference, from_account, to_account, amount_cents)
     VALUES (:id, :reference, :from_account, :to_account, :amount_cents)
     ON CONFLICT (reference) DO NOTHING RETURNING id`,
    { ...move, id },
  );
  if (!isNew) {
    await isMoveBooked(trx, move);
    return { value: false, audit: null };
  }
  await postNewJournal(trx, {
    merchant_id: OPERATOR,
    source_kind: 'own_move',
    source_id: id,
    kind: 'moved',
    lines: [
      { account: ledgerAccount(from_account), amount_cents },
      { account: ledgerAccount(to_account), amount_cents: -amount_cents },
    ],
  });
  const details = { reference, to: to_account, amount: formatAmount(amount_cents) };
  return { value: true, audit: { merchant_id: null, subject: `account ${from_account}`, details } };
}

function ledgerAccount(account: string): Account {
  return NAMED.includes(account) ? (account as Account) : 'gateway_float';
}

/**
 * Books the move that a second person has approved.
 * @throws OperatorRefusal when its reference is booked already
 */
export async function bookMoveAsAsked(
  trx: Transaction,
  move: OwnMove,
): Promise<AuditedChange<boolean>> {
  const change = await bookOwnMove(trx, move);
  if (change.value) return change;
  throw new OperatorRefusal(`Reference ${move.reference} was booked before`);
}
