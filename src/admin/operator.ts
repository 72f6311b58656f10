import type { Database, Transaction } from '../connections/database.ts';
import { OperatorRefusal } from '../domain/errors.ts';
import { findStaff, requireStaff, StaffRefusal } from '../domain/staff/require-staff.ts';
import { hasStaff, type StaffMember } from '../domain/staff/staff.ts';
import { UsageError } from '../operations/field.ts';
import type { Operator } from '../operations/perform.ts';
import type { Service } from '../service/service.ts';
import { ACTOR_VARIABLE, type NeededRole, type Order } from './verb.ts';

/** The actor of a read without a name, while there are no staff accounts. */
const NAMELESS = 'unnamed';
/** Follows a name that no token has proved. */
const WITHOUT_TOKEN = ' (without token)';

/** The person or machine that runs a command. */
export interface CommandOperator extends Operator {
  authorize(trx: Transaction, role: NeededRole): Promise<unknown>;
}

type Claim = Pick<Order, 'verb' | 'identity' | 'action'>;

/** In production, the only thing that somebody without a staff account may do. */
const FIRST = 'staff.create';
const NO_STAFF =
  'There are no staff accounts, so nobody may do this in production: staff create --first makes the first admin';

/**
 * Finds out who runs a command, and requires that this operator may. While there are no staff
 * accounts, everybody may, under any name; in production nobody may, but make the first admin.
 * @throws OperatorRefusal, StaffRefusal when the operator may not
 * @throws UsageError when somebody who changes something has no name
 */
export async function operatorOf(
  { database, config }: Pick<Service, 'database' | 'config'>,
  claim: Claim,
): Promise<CommandOperator> {
  const { verb, identity } = claim;
  const { role } = verb;
  if (role === 'anyone') return anyone(database, claim);
  const member = await requireStaff(database, identity.token, role);
  if (member) requireOwnName(member, identity);
  else if (config.malipoEnv === 'production' && claim.action !== FIRST) {
    throw new OperatorRefusal(NO_STAFF);
  }
  return {
    actor: member?.email ?? typedName(claim),
    member,
    hasGivenOtp: false,
    network: null,
    authorize: async (trx, needed) => {
      if (needed !== 'anyone') await requireStaff(trx, identity.token, needed, 'FOR SHARE');
    },
  };
}

/** A restored database may not know the newest tokens, so a token that is not valid is no reason. */
async function anyone(database: Database, claim: Claim): Promise<CommandOperator> {
  const { token } = claim.identity;
  const member = token === undefined ? null : await findStaff(database, token);
  const operator = { member, hasGivenOtp: false, network: null, authorize: async () => {} };
  if (member) {
    requireOwnName(member, claim.identity);
    return { ...operator, actor: member.email };
  }
  const isProven = !(await hasStaff(database));
  return { ...operator, actor: `${typedName(claim)}${isProven ? '' : WITHOUT_TOKEN}` };
}

/** @throws StaffRefusal when --actor names another person than the token does */
function requireOwnName({ email, token_prefix }: StaffMember, { named }: Order['identity']): void {
  if (named === undefined || named.toLowerCase() === email) return;
  throw new StaffRefusal(`--actor names ${named}, but the token belongs to ${email}`, {
    staff: email,
    detail: { token: token_prefix, why: 'actor' },
  });
}

function typedName({ verb, identity: { named, usual } }: Claim): string {
  const name = named ?? usual;
  if (name !== undefined) return name;
  if (!verb.changes) return NAMELESS;
  throw new UsageError(`Say who you are: --actor or ${ACTOR_VARIABLE}`);
}
