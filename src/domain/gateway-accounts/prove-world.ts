import { type Database, rows } from '../../connections/database.ts';
import { formatAmount } from '../money.ts';
import { ARE_OF_PEOPLE } from '../settlement/sources.ts';
import { type BalanceProof, latestProofs } from './balances.ts';
import { countInFlight, type InFlight, UNDER_WAY } from './in-flight.ts';
import { UNBOOKED, UNLISTED } from './own-lines.ts';
import { BANK } from './own-moves.ts';

/** Something that may explain a difference. Amounts are cents. */
export interface Candidate {
  what:
    | 'discrepancy'
    | 'on its way'
    | 'line without payment'
    | 'decided by hand'
    | 'adopted'
    | 'own row without entry'
    | 'entry not at the bank';
  /** The discrepancy, the payment, the journal, or the receipt of the line. */
  id: string;
  kind: string;
  merchant_id: number | null;
  amount_cents: number | null;
  at: Date;
}

/** A balance that differs from the ledger, with the candidates. The first have just its amount. */
export interface Difference extends BalanceProof {
  candidates: Candidate[];
}

/** The comparison of the books with what gateways have told. */
export interface WorldProof {
  balances: BalanceProof[];
  differences: Difference[];
  /** The gateways and accounts, and the bank if it has ever told one, that should have told a balance lately. */
  untold: string[];
  /** The gateways that cannot tell one: they have no float, or are of this service no more. */
  silent: string[];
  in_flight: InFlight[];
}

/** Says for how long an account in `untold` has told no balance. */
export function untoldFor(gateway: string): string {
  return gateway === BANK ? 'five days' : 'an hour';
}

/**
 * Compares the ledger's floats with the balances that gateways have told last.
 * @param gateways are those of this service. One with a float tells balances.
 */
export async function proveWorld(
  database: Database,
  gateways: Iterable<{ name: string; float?: object | undefined }>,
): Promise<WorldProof> {
  const balances = await latestProofs(database);
  const differences: Difference[] = [];
  for (const proof of balances) {
    if (proof.differs_since === null || !proof.is_told) continue;
    differences.push({ ...proof, candidates: await candidatesOf(database, proof) });
  }
  return {
    balances,
    differences,
    ...silenceOf(balances, [...gateways]),
    in_flight: await countInFlight(database),
  };
}

/** Sorts what has told no balance lately by whether it should have. */
function silenceOf(
  balances: readonly BalanceProof[],
  gateways: readonly { name: string; float?: object | undefined }[],
): Pick<WorldProof, 'untold' | 'silent'> {
  const heard = new Set(balances.filter(({ is_told }) => is_told).map(({ gateway }) => gateway));
  const telling = [BANK, ...gateways.filter(({ float }) => float).map(({ name }) => name)];
  const old = balances.filter(({ is_told }) => !is_told);
  const accounts = old
    .filter(({ gateway }) => heard.has(gateway))
    .map(({ gateway, sub_account }) => `${gateway} ${sub_account}`);
  const known = [...gateways.map(({ name }) => name), ...old.map(({ gateway }) => gateway)];
  const quiet = [...new Set(known)].filter((name) => !heard.has(name));
  return {
    untold: [...quiet.filter((name) => telling.includes(name)), ...accounts],
    silent: quiet.filter((name) => !telling.includes(name)),
  };
}

const MAX_CANDIDATES = 20;

/** Statements of this number of days before the difference appeared may have its line. */
const LOOK_BACK_DAYS = 3;

function candidatesOf(database: Database, proof: BalanceProof): Promise<Candidate[]> {
  return rows<Candidate>(
    database,
    `SELECT * FROM (${Object.values(CANDIDATES).join(' UNION ALL ')}) found
     ORDER BY abs(amount_cents) IS DISTINCT FROM abs(CAST(:difference_cents AS bigint)), at DESC
     LIMIT ${MAX_CANDIDATES}`,
    proof,
  );
}

const LATELY = `CAST(:differs_since AS timestamptz) - interval '${LOOK_BACK_DAYS} days'`;

/** Returns the move that an own row tells of, as far as it is known: a sweep goes to the bank. */
export function moveOf({ kind: account, id, amount_cents }: Candidate) {
  const other = account === BANK ? '' : BANK;
  const cents = amount_cents ?? 0;
  const [from_account, to_account] = cents < 0 ? [account, other] : [other, account];
  return { from_account, to_account, amount: formatAmount(Math.abs(cents)), reference: id };
}

/** SQL: the word of people alone, a file's too, or a movement that people have undone. */
const BY_HAND = `(told_by = 'support' OR coalesce(confirmed_by, told_by) IN ${ARE_OF_PEOPLE} OR booked = 'undone')`;

/** SQL for each kind of candidates, of all merchants: the difference is the operator's. */
const CANDIDATES: Readonly<Record<Candidate['what'], string>> = {
  discrepancy: `
    SELECT 'discrepancy' AS what, CAST(id AS text) AS id, kind, merchant_id, amount_cents,
      opened_at AS at
    FROM discrepancies WHERE resolved_at IS NULL AND gateway = :gateway`,
  'on its way': `
    SELECT 'on its way', CAST(id AS text), kind, merchant_id, amount_cents, created_at
    FROM (${UNDER_WAY}) p WHERE gateway = :gateway`,
  'line without payment': `
    SELECT 'line without payment', coalesce(l.trans_id, l.reference), l.kind, CAST(NULL AS bigint),
      l.amount_cents, l.completed_at
    FROM statement_imports i JOIN statement_lines l ON l.import_id = i.id
    WHERE i.gateway = :gateway AND i.imported_at >= ${LATELY} AND l.result = 'unknown'`,
  'decided by hand': `
    SELECT 'decided by hand', CAST(payment_id AS text), payment_kind, merchant_id, amount_cents,
      learned_at
    FROM movements
    WHERE gateway = :gateway AND ${BY_HAND}`,
  adopted: `
    SELECT 'adopted', receipt, kind, merchant_id, amount_cents, adopted_at FROM adoptions
    WHERE gateway = :gateway AND taken_back_at IS NULL AND adopted_at >= ${LATELY}`,
  'own row without entry': `
    SELECT 'own row without entry', reference, account, CAST(NULL AS bigint), amount_cents, told_at
    FROM (${UNBOOKED}) l
    WHERE account IN (:gateway, CAST(:gateway AS text) || '/' || CAST(:sub_account AS text))`,
  'entry not at the bank': `
    SELECT 'entry not at the bank', coalesce(reference, id), kind, merchant_id, amount_cents, at
    FROM (${UNLISTED}) b WHERE :gateway = 'bank'`,
};
