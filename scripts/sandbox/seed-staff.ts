import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { type Database, firstRow, inTransaction } from '../../src/connections/database.ts';
import { hashPassword } from '../../src/domain/credentials/passwords.ts';
import { beginStaffTotp, enableStaffTotp } from '../../src/domain/credentials/staff-log-in.ts';
import { STAFF_COLUMNS, type StaffMember, type StaffRole } from '../../src/domain/staff/staff.ts';
import type { KeyRing } from '../../src/process/key-ring.ts';
import { EMAIL_DOMAIN } from './seed.ts';

/** A member of staff who may log in to the console of the sandbox. */
export interface SandboxStaff {
  role: StaffRole;
  email: string;
  password: string;
  /** In base32, for an authenticator app. */
  totp_secret: string;
}

/** The people who may log in to the console of a sandbox. */
export interface SandboxTeam {
  /** An admin: who tries the sandbox. */
  staff: SandboxStaff;
  /** One of each role, for what needs a second person, and to see what each role may. */
  colleagues: Readonly<Record<StaffRole, SandboxStaff>>;
}

/** Adds an admin, and a colleague of each role. */
export async function seedTeam(database: Database, secretsKeys: KeyRing): Promise<SandboxTeam> {
  const add = (role: StaffRole) => seedStaff(database, secretsKeys, role);
  // At once, because hashing a password takes long.
  const [staff, admin, support, viewer] = await Promise.all([
    ...[add('admin'), add('admin'), add('support'), add('viewer')],
  ] as const);
  return { staff, colleagues: { admin, support, viewer } };
}

/**
 * Adds a member of staff for the console. The member has no staff token, so the command line of
 * the sandbox goes on without one. Sandboxes may share a database, so each has its own members.
 */
export async function seedStaff(
  database: Database,
  secretsKeys: KeyRing,
  role: StaffRole = 'admin',
): Promise<SandboxStaff> {
  const email = `${role}-${randomBytes(4).toString('hex')}@staff.${EMAIL_DOMAIN}`;
  const password = randomBytes(12).toString('base64url');
  const password_hash = await hashPassword(password);
  return inTransaction(database, async (trx) => {
    const member = await firstRow<StaffMember>(
      trx,
      `INSERT INTO staff (id, name, email, role, token_hash, token_prefix, token_expires_at, password_hash)
       VALUES (:id, :name, :email, :role, :nobody, '', now(), :password_hash)
       RETURNING ${STAFF_COLUMNS}`,
      {
        id: uuidv7(),
        name: `Sandbox ${role}`,
        email,
        role,
        nobody: randomBytes(32),
        password_hash,
      },
    );
    const { secret } = await beginStaffTotp(trx, secretsKeys, member!);
    await enableStaffTotp(trx, member!);
    return { role, email, password, totp_secret: secret };
  });
}
