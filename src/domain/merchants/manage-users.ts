import { type Database, firstRow, rows, type Transaction } from '../../connections/database.ts';
import { violates } from '../../connections/database-errors.ts';
import { revokeTokens } from '../identity/revoke-tokens.ts';
import { OperatorRefusal } from '../operator-refusal.ts';
import { type Differences, differences, newValues, type Page } from './differences.ts';
import { lockMerchant } from './manage-merchants.ts';
import { createUser, type Role } from './merchant.ts';

/** A person who may log in for a merchant. */
export interface UserRecord {
  id: string;
  merchant_id: number;
  email: string;
  role: Role;
  active: boolean;
  created_at: Date;
}

/** Which user is meant: e-mail addresses are unique, the merchant is a check. */
export interface UserName {
  email: string;
  merchant_id?: number | undefined;
}

export interface UserChanges {
  role?: Role | undefined;
  active?: boolean | undefined;
  /** As `hashPassword` makes it. */
  passwordHash?: string | undefined;
}

const COLUMNS = 'id, merchant_id, email, role, active, created_at';

/** Users in the order of their e-mail addresses, of one merchant or of all. */
export function listUsers(
  database: Database,
  page: Page<string> & { merchant_id: number | undefined },
): Promise<UserRecord[]> {
  return rows<UserRecord>(
    database,
    `SELECT ${COLUMNS} FROM users
     WHERE email > :after AND merchant_id = coalesce(:merchant_id, merchant_id)
     ORDER BY email LIMIT :limit`,
    { after: page.after ?? '', merchant_id: page.merchant_id ?? null, limit: page.limit },
  );
}

/** @throws OperatorRefusal when there is no such merchant, or the e-mail address is taken. */
export async function addUser(
  trx: Transaction,
  merchantId: number,
  user: { email: string; password: string; role: Role },
): Promise<UserRecord> {
  await lockMerchant(trx, merchantId);
  const taken = await findUser(trx, { email: user.email });
  if (taken) {
    throw new OperatorRefusal(
      `${taken.email} is a user of merchant ${taken.merchant_id} already: an e-mail address is good for one user`,
    );
  }
  try {
    await createUser(trx, merchantId, user);
  } catch (error) {
    if (!violates(error, 'users_email_key')) throw error;
    throw new OperatorRefusal(`${user.email} has just become another user's e-mail address`);
  }
  return (await findUser(trx, { email: user.email }))!;
}

/**
 * Changes a user. Another role or password, and a deactivation, end the user's sessions at
 * once. @returns the user as it is now, what became different, and how many sessions ended.
 * @throws OperatorRefusal when there is no such user.
 */
export async function updateUser(
  trx: Transaction,
  name: UserName,
  { passwordHash, ...wanted }: UserChanges,
): Promise<{ user: UserRecord; changed: Differences; revoked: number }> {
  const before = await findUser(trx, name, 'FOR NO KEY UPDATE');
  if (!before) throw new OperatorRefusal(`There is no user ${describe(name)}`);
  const changed = differences(before, wanted as Partial<UserRecord>);
  const values = { ...newValues(changed), ...(passwordHash && { password_hash: passwordHash }) };
  const user = await updateColumns(trx, before, values);
  // Asked of every deactivation, so that saying it again also ends what came in between.
  const ends = wanted.active === false || changed.role !== undefined || passwordHash !== undefined;
  const subject = { merchant_id: before.merchant_id, user_id: before.id };
  return { user, changed, revoked: ends ? await revokeTokens(trx, subject) : 0 };
}

async function updateColumns(
  trx: Transaction,
  user: UserRecord,
  values: Record<string, unknown>,
): Promise<UserRecord> {
  const names = Object.keys(values);
  if (names.length === 0) return user;
  const row = await firstRow<UserRecord>(
    trx,
    `UPDATE users SET ${names.map((name) => `${name} = :${name}`).join(', ')}
     WHERE merchant_id = :merchant_id AND id = :id RETURNING ${COLUMNS}`,
    { ...values, merchant_id: user.merchant_id, id: user.id },
  );
  return row!;
}

function findUser(
  trx: Transaction,
  { email, merchant_id: merchantId }: UserName,
  lock: 'FOR NO KEY UPDATE' | '' = '',
): Promise<UserRecord | undefined> {
  return firstRow<UserRecord>(
    trx,
    `SELECT ${COLUMNS} FROM users
     WHERE email = :email AND merchant_id = coalesce(:merchant_id, merchant_id) ${lock}`,
    { email: email.toLowerCase(), merchant_id: merchantId ?? null },
  );
}

function describe({ email, merchant_id: merchantId }: UserName): string {
  return merchantId === undefined ? email : `${email} of merchant ${merchantId}`;
}
