import { rows, type Transaction } from '../../connections/database.ts';
import type { StoredLine } from '../reconciliation/statement.ts';
import { isSameAccount, sameAccount, showsNoMoreThan } from '../settlement/same-account.ts';
import { type Finding, openDiscrepancy } from './discrepancy.ts';

/* Statements of one gateway list the same line again and again, in several forms. It is one question. */

/** A line of a statement as people are asked about it. */
export type AskedLine = Pick<
  StoredLine,
  'reference' | 'account' | 'trans_id' | 'amount_cents' | 'completed_at'
>;

/** The gateway's own statement lists a line, or a file that somebody has brought. */
export interface Teller {
  gateway: string;
  by: 'statement' | 'file';
}

interface LineQuestion {
  kind: 'unknown_movement' | 'money_back';
  /** Tells the line from others. */
  name: string | null;
  line: AskedLine;
  /** Another line of the statement, of another account, is as this one: what shows no whole account was that one. */
  hasTwin?: boolean;
  /** Facts besides the ones of the line. Other ones are another question. */
  more: { kind?: string; receipt?: string | null };
  /** The names of the payments that it may be of. */
  candidates: string[];
}

/** Puts a line on the support list. Another statement may list the same in another form. */
export async function askAboutLine(
  trx: Transaction,
  { gateway, by }: Teller,
  { kind, name, line, more, candidates, hasTwin = false }: LineQuestion,
): Promise<void> {
  const { reference, account, amount_cents, completed_at, trans_id } = line;
  const fits = candidates.length > 0 ? { candidates } : {};
  const told = { ...more, reference, account, completed_at: completed_at.toISOString() };
  const isNew = await openDiscrepancy(trx, {
    kind,
    gateway,
    payment: null,
    trans_id: name,
    amount_cents,
    details: { ...told, ...fits },
    told: { by, at: null },
    isSame: (known) => isSameLine(known, { ...line, kind: more.kind, hasTwin }),
  });
  if (isNew) return;
  // Other payments may fit it by now, this statement may show its whole account, and a file may have told it before the
  // gateway did.
  await rows(
    trx,
    `UPDATE discrepancies SET
       details = ${KEEPING_ACCOUNT('details', 'amount_cents')} - 'candidates' || CAST(:fits AS jsonb)
         || (SELECT ${TIME_OF_GATEWAY} FROM (SELECT evidence->0 AS e) AS first),
       evidence = (SELECT jsonb_agg(jsonb_set(e, '{details}',
         -- What the gateway itself has told stays in its own words.
         CASE WHEN :by = 'file' AND e->>'told_by' = 'statement' THEN e->'details'
           WHEN NOT ${IS_OF_LINE} THEN e->'details'
           ELSE ${KEEPING_ACCOUNT("e->'details'", "CAST(e->>'amount_cents' AS bigint)")} || ${TIME_OF_GATEWAY} END)
         || CASE WHEN ${IS_WORD_OF_GATEWAY}
           THEN jsonb_build_object('told_by', CAST(:by AS text)) ELSE '{}' END ORDER BY place)
         FROM jsonb_array_elements(evidence) WITH ORDINALITY AS found (e, place))
     WHERE kind = :question AND gateway = :gateway AND trans_id = :name
       AND details->>'kind' IS NOT DISTINCT FROM :kind AND resolved_at IS NULL`,
    {
      account,
      amount_cents,
      trans_id,
      completed_at: told.completed_at,
      gateway,
      by,
      name,
      question: kind,
      kind: more.kind ?? null,
      fits: JSON.stringify(fits),
    },
  );
}

/** SQL: the finding `e` is of the line. Without a receipt, each time may be another movement. */
const IS_OF_LINE = `(CAST(:trans_id AS text) IS NOT NULL OR e->'details'->>'completed_at' = CAST(:completed_at AS text))`;

/** SQL: the gateway's statement has told the finding `e`: it shows as much of the account, and tells when. */
const IS_WORD_OF_GATEWAY = `(:by = 'statement' AND CAST(e->>'amount_cents' AS bigint) = :amount_cents
  AND ${showsNoMoreThan("(e->'details'->>'account')", 'CAST(:account AS text)')}
  AND ${IS_OF_LINE})`;

/** SQL: the time of the gateway's line, if a file has told the finding `e` before. */
const TIME_OF_GATEWAY = `CASE WHEN ${IS_WORD_OF_GATEWAY} AND e->>'told_by' = 'file'
  THEN jsonb_build_object('completed_at', CAST(:completed_at AS text)) ELSE '{}' END`;

/**
 * Tells whether a known finding and a line are the same. Statements of one gateway write a line in different
 * forms: with the phone, with some of its digits, or without it, and by another clock. A receipt stands for one
 * transaction. Without one, each time may be another movement.
 */
function isSameLine(
  { amount_cents, details }: Finding,
  line: AskedLine & { kind: string | undefined; hasTwin: boolean },
): boolean {
  const { kind, reference, account, completed_at } = details as unknown as KnownLine;
  return (
    amount_cents === line.amount_cents &&
    kind === line.kind &&
    reference === line.reference &&
    (line.hasTwin ? account === line.account : mayBeSame(account, line.account)) &&
    (line.trans_id !== null || completed_at === line.completed_at.toISOString())
  );
}

function mayBeSame(one: string | null, other: string | null): boolean {
  return one === null || other === null || isSameAccount(one, other);
}

/** The details of a finding about a line. */
interface KnownLine extends Pick<AskedLine, 'reference' | 'account'> {
  kind?: string;
  /** ISO 8601. */
  completed_at: string;
}

/** SQL: the details of the same line, with its account if that shows more. */
const KEEPING_ACCOUNT = (details: string, amount_cents: string) => {
  const account = `${details}->>'account'`;
  return `CASE WHEN ${amount_cents} = :amount_cents AND position('*' IN :account) = 0
      AND (${account} IS NULL OR ${account} LIKE '%*%' AND ${sameAccount(account, ':account')})
    THEN jsonb_set(${details}, '{account}', to_jsonb(CAST(:account AS text))) ELSE ${details} END`;
};
