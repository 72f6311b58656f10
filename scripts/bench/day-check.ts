import { rows } from '../../src/connections/database.ts';
import type { Outcome } from './backlog.ts';
import type { Stage } from './stage.ts';

/** All payments with the fields that tell whether they are open. Returns have no reference. */
export const OPEN = ['collection', 'payout', 'reversal', 'return']
  .map((kind) => {
    const account = { collection: 'payfrom', payout: 'payto' }[kind] ?? 'account';
    const refNo = kind === 'return' ? 'NULL' : 'ref_no';
    const givesBack = kind === 'reversal' || kind === 'return';
    const awaitsReceipt = givesBack
      ? "next_step = 'submit' AND original_trans_id IS NULL"
      : 'false';
    return `SELECT '${kind}' AS kind, id, ${refNo} AS ref_no, ${account} AS account, status,
      next_step, external_ref, parked_reason, created_at, deadline_at,
      ${awaitsReceipt} AS awaits_receipt FROM ${kind}s`;
  })
  .join(' UNION ALL ');

interface Ended {
  kind: 'collection' | 'payout' | 'reversal' | 'return';
  id: string;
  ref_no: string | null;
  account: string;
  status: string;
  external_ref: string | null;
  parked_reason: string | null;
  awaits_receipt: boolean;
}

interface Movement {
  kind: string;
  account: string;
  trans_id: string;
}

/**
 * Holds every payment against what the simulator has moved, and says how the ends were learned,
 * what is open and why, and what Daraja was called for.
 */
export async function checkDay(
  stage: Stage,
  simulatorUrl: string,
  outcomes: ReadonlyMap<string, Outcome>,
): Promise<void> {
  const { database, findings } = stage;
  const payments = await rows<Ended>(database, `SELECT * FROM (${OPEN}) p`);
  const moved = (await read(simulatorUrl, 'statement')) as Movement[];
  findings.problems.push(...problemsOf(payments, moved, await withSupport(stage)));
  findings.problems.push(...untold(payments, outcomes));
  findings.notes.push(
    `${payments.length} payments, ${moved.length} movements at the gateway`,
    ...(await endsOf(stage)),
    ...(await leftOpen(stage)),
    ...callsOf((await read(simulatorUrl, 'counts')) as Record<string, number>, payments.length),
  );
}

async function read(url: string, path: string): Promise<unknown> {
  return (await fetch(`${url}/${path}`)).json();
}

/** Each phone is of one payment only, so kind and phone name it. */
/** A line of the statement that may be money of a failed collection is before support. */
async function withSupport({ database }: Stage): Promise<ReadonlySet<string>> {
  const found = await rows<{ account: string }>(
    database,
    `SELECT details->>'account' AS account FROM discrepancies
     WHERE kind = 'unknown_movement' AND resolved_at IS NULL`,
  );
  return new Set(found.map(({ account }) => account));
}

function problemsOf(
  payments: readonly Ended[],
  moved: readonly Movement[],
  supported: ReadonlySet<string>,
): string[] {
  const counts = new Map<string, number>();
  for (const { kind, account } of moved) {
    counts.set(`${kind} ${account}`, (counts.get(`${kind} ${account}`) ?? 0) + 1);
  }
  const returned = new Set(
    payments.filter(({ kind }) => kind === 'return').map((one) => one.account),
  );
  return payments.flatMap((payment) => {
    const { kind, account, ref_no, id } = payment;
    const count = counts.get(`${kind === 'return' ? 'reversal' : kind} ${account}`) ?? 0;
    const isFound = returned.has(account) || supported.has(account);
    const problem = problemOf(payment, count, isFound);
    return problem ? [`${kind} ${ref_no ?? id} ${account}: ${problem}`] : [];
  });
}

/** @param isFound says that its money goes back, or is before support. */
function problemOf(payment: Ended, movedCount: number, isFound: boolean): string | null {
  const { kind, account, status, parked_reason } = payment;
  if (movedCount > 1) return 'moved twice';
  if (isOpen(payment) && !isLost(payment)) return `open: ${status} ${parked_reason ?? ''}`;
  if (status === 'completed' && movedCount === 0) return 'completed, and nothing moved';
  const isGivenBack = kind === 'collection' && isFound;
  // Support has it as paid after its refund.
  const isPaidAfterAll = kind === 'payout' && account.endsWith('107');
  const isKept = status === 'failed' && movedCount > 0 && !isGivenBack && !isPaidAfterAll;
  return isKept ? 'failed, and money moved' : null;
}

function isOpen({ status }: Ended): boolean {
  return status === 'pending' || status === 'processing';
}

/** Daraja keeps no reference of ours for these, so nobody can ask about a lost acknowledgement. */
function isLost({ kind, external_ref, awaits_receipt }: Ended): boolean {
  const givesBack = kind === 'reversal' || kind === 'return';
  return givesBack && external_ref === null && !awaits_receipt;
}

/** A merchant hears once of every end, and nothing else. */
function untold(payments: readonly Ended[], outcomes: ReadonlyMap<string, Outcome>): string[] {
  const own = payments.filter(({ kind }) => kind !== 'return');
  return own.flatMap((payment) => {
    const { ids, event } = outcomes.get(payment.ref_no!)!;
    if (isOpen(payment)) return ids.size > 0 ? [`${payment.ref_no} was told while open`] : [];
    const isRight = ids.size === 1 && event === `transaction.${payment.status}`;
    return isRight ? [] : [`${payment.ref_no} is ${payment.status}, and was told ${event}`];
  });
}

/** Says how ends were learned. An answer to a question may come as a callback too. */
async function endsOf({ database }: Stage): Promise<string[]> {
  const found = await rows<{ kind: string; how: string; count: number }>(
    database,
    `SELECT h.payment_kind AS kind, CASE
       WHEN h.cause = 'poll' THEN 'question'
       WHEN h.cause = 'callback' AND NOT EXISTS (SELECT FROM callbacks c
         WHERE c.merchant_id = h.merchant_id AND c.payment_kind = h.payment_kind
           AND c.payment_id = h.payment_id AND c.address = 'result'
           AND c.received_at <= h.happened_at) THEN 'question'
       ELSE h.cause END AS how, count(*) AS count
     FROM payment_history h WHERE h.to_status IN ('completed', 'failed')
     GROUP BY 1, 2 ORDER BY 1, 3 DESC`,
  );
  const kinds = [...new Set(found.map(({ kind }) => kind))];
  return kinds.map((kind) => {
    const own = found.filter((one) => one.kind === kind);
    return `ends of a ${kind} were learned by ${own.map(({ how, count }) => `${how} ${count}`).join(', ')}`;
  });
}

async function leftOpen({ database }: Stage): Promise<string[]> {
  const open = await rows<{ kind: string; why: string; count: number }>(
    database,
    `SELECT kind, coalesce(parked_reason, CASE WHEN awaits_receipt THEN 'the receipt is awaited'
         WHEN external_ref IS NULL THEN 'no acknowledgement and no callback came'
         ELSE 'under way' END) AS why,
       count(*) AS count
     FROM (${OPEN}) p WHERE status IN ('pending', 'processing') GROUP BY 1, 2 ORDER BY 1, 2`,
  );
  const cases = await rows<{ kind: string; count: number }>(
    database,
    'SELECT kind, count(*) AS count FROM discrepancies WHERE resolved_at IS NULL GROUP BY 1',
  );
  const lines = open.map(({ kind, why, count }) => `left open: ${count} of kind ${kind}: ${why}`);
  return [
    ...(lines.length > 0 ? lines : ['left open: none']),
    `for support: ${cases.map(({ kind, count }) => `${count} ${kind}`).join(', ') || 'nothing'}`,
  ];
}

function callsOf(counts: Record<string, number>, payments: number): string[] {
  const calls = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const shown = Object.entries(counts).filter(([, count]) => count > 0);
  return [
    `${(calls / payments).toFixed(2)} calls for one payment: ${shown.map(([path, count]) => `${path} ${count}`).join(', ')}`,
  ];
}
