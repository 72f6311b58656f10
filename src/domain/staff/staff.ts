/** A viewer looks, support decides about payments and helps people, an admin does everything. */
export const STAFF_ROLES = ['viewer', 'support', 'admin'] as const;
export type StaffRole = (typeof STAFF_ROLES)[number];

/** A person or a machine that uses the command line, or a person at the console. */
export interface StaffMember {
  id: string;
  name: string;
  /** Unique. The audit log names the member by it. */
  email: string;
  role: StaffRole;
  active: boolean;
  /** Log-ins to the console, and changes of staff, by this member need a one-time password. */
  totp: boolean;
  /** The beginning of the member's only token. */
  token_prefix: string;
  token_expires_at: Date;
  created_at: Date;
}

/** The columns that a member is read with: all but the hash of the token. */
export const STAFF_COLUMNS =
  'id, name, email, role, active, totp, token_prefix, token_expires_at, created_at';

/** Tells whether a role may do what needs another one. Each may do what those before it may. */
export function mayActAs(role: StaffRole, needed: StaffRole): boolean {
  return STAFF_ROLES.indexOf(role) >= STAFF_ROLES.indexOf(needed);
}
