import type { Database, Transaction } from '../connections/database.ts';
import { findStaff, requireStaff, StaffRefusal } from '../domain/staff/require-staff.ts';
import { hasStaff, type StaffMember } from '../domain/staff/staff.ts';
import { UsageError } from './options/option.ts';
import { ACTOR_VARIABLE, type Order } from './verb.ts';

/** The actor of a read without a name, while there are no staff accounts. */
const NAMELESS = 'unnamed';
/** Follows a name that no token has proved. */
const WITHOUT_TOKEN = ' (without token)';

/** The person or machine that runs a command. */
export interface Operator {
  /** The name for the audit log: the e-mail address of a member of staff, or what was typed. */
  actor: string;
  member: StaffMember | null;
  /** Checks once more, in a transaction, that the operator may. */
  authorize(trx: Transaction): Promise<unknown>;
}

type Claim = Pick<Order, 'verb' | 'identity'>;

/**
 * Finds out who runs a command, and requires that this operator may. Everybody may, under any
 * name, while there are no staff accounts.
 * @throws OperatorRefusal, StaffRefusal when the operator may not
 * @throws UsageError when somebody who changes something has no name
 */
export async function operatorOf(database: Database, claim: Claim): Promise<Operator> {
  const { verb, identity } = claim;
  const { role } = verb;
  if (role === 'anyone') return { ...(await anyone(database, claim)), authorize: async () => {} };
  const member = await requireStaff(database, identity.token, role);
  if (member) requireOwnName(member, identity);
  return {
    ...{ actor: member?.email ?? typedName(claim), member },
    authorize: (trx) => requireStaff(trx, identity.token, role, 'FOR SHARE'),
  };
}

/** A restored database may not know the newest tokens, so a token that is not valid is no reason. */
async function anyone(database: Database, claim: Claim): Promise<Omit<Operator, 'authorize'>> {
  const { token } = claim.identity;
  const member = token === undefined ? null : await findStaff(database, token);
  if (member) {
    requireOwnName(member, claim.identity);
    return { actor: member.email, member };
  }
  const isProven = !(await hasStaff(database));
  return { actor: `${typedName(claim)}${isProven ? '' : WITHOUT_TOKEN}`, member };
}

/** @throws StaffRefusal when --actor names another person than the token does */
function requireOwnName({ email, token_prefix }: StaffMember, { named }: Order['identity']): void {
  if (named === undefined || named.toLowerCase() === email) return;
  throw new StaffRefusal(`--actor names ${named}, but the token is that of ${email}`, {
    ...{ staff: email, detail: { token: token_prefix, why: 'actor' } },
  });
}

function typedName({ verb, identity: { named, usual } }: Claim): string {
  const name = named ?? usual;
  if (name !== undefined) return name;
  if (!verb.changes) return NAMELESS;
  throw new UsageError(`Say who you are: --actor or ${ACTOR_VARIABLE}`);
}
