import {
  type Database,
  firstRow,
  hasRow,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { withPassword } from '../credentials/own-access.ts';
import { eventBy, personOf, type UserRef } from '../credentials/people.ts';
import { Refusal } from '../errors.ts';
import type { AppRef } from '../merchants/app-secrets.ts';
import { recordSecurityEvent } from '../security/security-events.ts';
import type { Caller } from './caller.ts';
import { isTotpOperation } from './require-access.ts';

/*
 * Staff give access: they make users and apps, and replace passwords and secrets. Whoever has seen
 * such a password could empty a wallet. So new access sends no money out for a while, in which the
 * merchant can notice. A user of the merchant with the role Admin, whose own access is older, ends the wait.
 */

/** An app, of which the newest secret is meant, or a user. */
type Holder = AppRef | UserRef;

/** SQL: the table with the access of a holder, and its row. */
function accessOf(holder: Holder): { table: string; isIts: string } {
  return 'user_id' in holder
    ? { table: 'users', isIts: 'merchant_id = :merchant_id AND id = :user_id' }
    : { table: 'app_secrets', isIts: 'merchant_id = :merchant_id AND app_code = :app_code' };
}

/** Lets access that staff have just given send no money out for so long. With 0 it may at once. */
export async function holdNewAccess(
  trx: Transaction,
  holder: Holder,
  holdMs: number,
): Promise<void> {
  if (holdMs === 0) return;
  const { table, isIts } = accessOf(holder);
  const newest = `(SELECT id FROM ${table} WHERE ${isIts} ORDER BY created_at DESC, id DESC LIMIT 1)`;
  await rows(
    trx,
    `UPDATE ${table} SET outgoing_from = clock_timestamp() + :hold_ms * interval '1 millisecond'
     WHERE merchant_id = :merchant_id AND id = ${newest}`,
    { ...holder, hold_ms: holdMs },
  );
}

/**
 * Requires that access is not too new to send money out.
 * @throws Refusal `access_too_new` with the moment from which on it may
 */
export function requireOldAccess({ outgoingFrom }: Caller, operation: string): void {
  if (outgoingFrom === null || !isTotpOperation(operation)) return;
  throw tooNew(outgoingFrom);
}

/** Names an app, or a person by the e-mail address. */
interface Named {
  app_code?: number | undefined;
  email?: string | undefined;
}

/**
 * Lets the new access of an app or a person send money out at once. Repeated, it changes nothing.
 * @param caller is a user of the merchant with the role Admin
 * @throws Refusal `access_too_new` when the caller's own access is new, `invalid_credentials`,
 * `field_required` without exactly one of the two names, `app_not_found`, `invalid_field`
 */
export async function releaseAccess(
  database: Database,
  caller: Caller,
  password: string,
  named: Named,
): Promise<void> {
  if (caller.outgoingFrom) throw tooNew(caller.outgoingFrom);
  const person = personOf(caller);
  await withPassword(database, person, password, async (trx) => {
    const holder = await findHolder(trx, caller.merchant_id, named);
    const { table, isIts } = accessOf(holder);
    const released = await rows(
      trx,
      `UPDATE ${table} SET outgoing_from = NULL
       WHERE ${isIts} AND outgoing_from > now() RETURNING id`,
      holder,
    );
    if (released.length === 0) return;
    const event = { ...eventBy(person), detail: { released: holder } };
    await recordSecurityEvent(trx, { ...event, kind: 'access_released' });
  });
}

async function findHolder(
  trx: Transaction,
  merchant_id: number,
  { app_code, email }: Named,
): Promise<Holder> {
  if ((app_code === undefined) === (email === undefined)) {
    throw new Refusal('field_required', 'app_code');
  }
  if (app_code !== undefined) {
    const app = 'SELECT FROM apps WHERE merchant_id = :merchant_id AND code = :app_code';
    if (!(await hasRow(trx, app, { merchant_id, app_code }))) throw new Refusal('app_not_found');
    return { merchant_id, app_code };
  }
  const user = await firstRow<UserRef>(
    trx,
    `SELECT merchant_id, id AS user_id FROM users
     WHERE merchant_id = :merchant_id AND email = lower(:email)`,
    { merchant_id, email },
  );
  if (!user) throw new Refusal('invalid_field', 'email');
  return user;
}

function tooNew(outgoingFrom: Date): Refusal {
  return new Refusal('access_too_new', outgoingFrom.toISOString());
}
