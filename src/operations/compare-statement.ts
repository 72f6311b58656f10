import type { Transaction } from '../connections/database.ts';
import { leaseHolder } from '../connections/locks.ts';
import { auditedFor } from '../domain/audit/audit.ts';
import { OperatorRefusal } from '../domain/errors.ts';
import { kes } from '../domain/money.ts';
import {
  beginComparison,
  DRAFT_MINUTES,
  findImport,
  type StatementImport,
} from '../domain/reconciliation/import-store.ts';
import { previewStatement } from '../domain/reconciliation/preview-statement.ts';
import { type Comparison, compareImport } from '../domain/reconciliation/reconcile-statement.ts';
import { refuseNewOtp, requireStillMay } from '../domain/staff/approvals.ts';
import { requireTwoPeople } from '../domain/staff/given-access.ts';
import { comparisonWith, type gatewayOf } from '../service/reconciliation.ts';
import { required } from './field.ts';
import { type Deed, define, type Look, type Noun } from './operation.ts';
import * as read from './readers.ts';

const STATEMENT: Noun<StatementImport> = {
  fields: { id: required('statement', read.uuid, 'The id of the stored statement') },
  argument: 'id',
  find: async ({ database }, { id }) => {
    const found = await findImport(database, String(id));
    if (found) return found;
    throw new OperatorRefusal(`There is no statement ${id}`);
  },
};

/** A stored statement, with what its comparison has found. */
export interface Compared {
  statement: StatementImport;
  result: Comparison;
}

/**
 * Compares a stored statement with the books. A service with `comparisons` does not wait for the end:
 * the gateway may be asked about many payments. If the process stops, it may be begun again.
 */
export const compareStatement = define<StatementImport, Record<never, never>>({
  name: 'reconcile.run',
  role: 'support',
  title: 'Compare and settle',
  summary: 'Compares a stored statement with the books, and settles what it shows',
  twoPeople:
    'for a file that says more than is known: another member than the one who has brought it. Only a file to which another member has agreed answers the questions of other statements',
  about: STATEMENT,
  fields: {},
  otp: 'fresh',
  needsOtp: isAgreement,
  preview: (look) => {
    requireOther(look);
    return [
      'The comparison settles what the statement shows, and its differences become discrepancies.',
    ];
  },
  perform: async (deed) => {
    requireOther(deed);
    const { service, subject: statement } = deed;
    const { id } = statement;
    const compare = await begin(deed);
    const title = 'The comparison has begun';
    if (!service.comparisons) {
      const row: Compared = { statement, result: await compare() };
      return { title: `Statement ${id} is compared`, row };
    }
    service.comparisons.start(id, compare);
    return { title, more: { import_id: id } };
  },
});

/**
 * Says why a member may not begin the comparison of a statement; null when the member may. A file
 * could say anything. So its uploader compares it alone only if it repeats what is known.
 */
export function whyNotAlone(
  { member }: Pick<Look<unknown>, 'member'>,
  { brought_by, preview, complete_until }: StatementImport,
): string | null {
  const { stake_cents: stake, empty_kinds } = preview ?? { stake_cents: 0, empty_kinds: [] };
  if (!member || brought_by !== member.email) return null;
  if (claimsEmpty({ preview, complete_until })) {
    return `It claims to have every ${empty_kinds.join(' and ')}, and has none. You have brought the file: somebody else must compare it`;
  }
  if (stake === 0) return null;
  return `It is about ${kes(stake)}, and you have brought the file: somebody else must compare it`;
}

/** Tells whether a member agrees to a file by comparing it, as to a request: another member has brought it. */
export function isAgreement({
  member,
  subject,
}: Pick<Look<StatementImport>, 'member' | 'subject'>): boolean {
  const { brought_by } = subject;
  return member !== null && brought_by !== null && brought_by !== member.email;
}

/** Tells whether a file says that it has every line of a kind, and has none. */
function claimsEmpty({
  preview,
  complete_until,
}: Pick<StatementImport, 'preview' | 'complete_until'>): boolean {
  return complete_until !== null && (preview?.empty_kinds.length ?? 0) > 0;
}

function requireOther(look: Look<StatementImport>): void {
  const problem = whyNotAlone(look, look.subject);
  if (problem !== null) throw new OperatorRefusal(problem);
}

/**
 * Measures the stake of a file once more, in the transaction that begins: the books have gone on.
 * @returns the most money that the comparison may end, in cents; null for the gateway's own word
 */
async function measureStake(
  trx: Transaction,
  look: Look<StatementImport>,
  { settlingWindowMs: settling_window_ms }: ReturnType<typeof gatewayOf>,
): Promise<number | null> {
  const { subject } = look;
  if (subject.brought_by === null) return null;
  const preview = await previewStatement(trx, { ...scopeOf(subject), settling_window_ms });
  requireOther({ ...look, subject: { ...subject, preview } });
  const saysMore = preview.stake_cents > 0 || claimsEmpty({ ...subject, preview });
  if (look.member && saysMore) await requireAgreement(trx, look);
  const [now, shown] = [preview.stake_cents, subject.preview?.stake_cents ?? 0];
  const endsNothing = preview.missing_cents + preview.own_cents + preview.back_cents;
  if (now <= shown) return now - endsNothing;
  throw new OperatorRefusal(
    `It is about ${kes(now)} by now, and was about ${kes(shown)} when it was stored: check it anew`,
  );
}

/** @throws OperatorRefusal when the member cannot be the second person who stands for a file */
async function requireAgreement(
  trx: Transaction,
  { member, subject, service }: Look<StatementImport>,
): Promise<void> {
  await refuseNewOtp(trx, member!.email, service.config.newAccessHoldMs);
  await requireTwoPeople(trx, subject.brought_by!, member!.email);
  await requireStillMay(trx, subject.brought_by!, 'support');
}

/** Returns the e-mail address of the second person who stands for a file. A file that says nothing new may have none. */
async function agreedBy(trx: Transaction, look: Look<StatementImport>): Promise<string | null> {
  if (!isAgreement(look)) return null;
  try {
    await requireAgreement(trx, look);
  } catch (error) {
    if (error instanceof OperatorRefusal) return null;
    throw error;
  }
  return look.member!.email;
}

function scopeOf(statement: StatementImport) {
  const { id: import_id, gateway, channel, covers, complete_until } = statement;
  const period = { from: statement.period_from, to: statement.period_to };
  return { import_id, gateway, channel, period, covers, complete_until };
}

const HAS_LAPSED = `It was stored over ${DRAFT_MINUTES} minutes ago, and the books went on: check it anew`;

/** Begins the comparison. @returns the function that makes it, also after its member has logged out */
async function begin(deed: Deed<StatementImport>) {
  const { service, audited, subject, actor, reason } = deed;
  const { id, channel, gateway: name } = subject;
  const gateway = service.gateways.get(name);
  if (!gateway) throw new OperatorRefusal(`There is no gateway ${name} any more`);
  const holder = leaseHolder();
  if (subject.has_lapsed) throw new OperatorRefusal(HAS_LAPSED);
  const agreed_cents = await audited(async (trx) => {
    const value = await measureStake(trx, deed, gateway);
    if (!(await beginComparison(trx, id, holder, await agreedBy(trx, deed)))) {
      throw new OperatorRefusal('Its comparison is under way, or has ended');
    }
    const details = { import_id: id, begun: true };
    return { value, audit: { merchant_id: null, subject: `channel ${channel}`, details } };
  });
  const statement = { ...scopeOf(subject), agreed_cents };
  const operator = { actor, action: 'reconcile.run', reason };
  return (stopping?: AbortSignal) =>
    compareImport(
      service.database,
      auditedFor(service.database, operator),
      statement,
      { ...comparisonWith(service, gateway), ...(stopping && { stopping }) },
      holder,
    );
}
