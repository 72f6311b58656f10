import type { Caller } from '../access/caller.ts';
import type { SecurityEvent } from '../security/security-events.ts';

/** A user of a merchant, by the columns that name it. */
export interface UserRef {
  merchant_id: number;
  user_id: string;
}

/** A member of staff, by the column that names it. */
export interface StaffRef {
  staff_id: string;
}

/** Somebody with credentials. */
export type PersonRef = UserRef | StaffRef;

/** Where the credentials of one kind of people are. */
export interface Realm {
  /** The table of the people, with their passwords. */
  people: 'users' | 'staff';
  /** SQL that is true of the person's own row. */
  isPerson: string;
  /** The table of their secrets of one-time passwords. */
  totpSecrets: string;
  /** The columns that name the person in other tables. */
  owner: readonly string[];
  /** Binds a sealed secret of one-time passwords to its kind of people. */
  totpContext: string;
  /** Names an account where log-ins are counted: a user and a member may have the same address. */
  accountOf(email: string): string;
}

export const USERS: Realm = {
  people: 'users',
  isPerson: 'merchant_id = :merchant_id AND id = :user_id',
  totpSecrets: 'totp_secrets',
  owner: ['merchant_id', 'user_id'],
  totpContext: 'totp_secret',
  accountOf: (email) => email,
};

export const STAFF: Realm = {
  people: 'staff',
  isPerson: 'id = :staff_id',
  totpSecrets: 'staff_totp_secrets',
  owner: ['staff_id'],
  totpContext: 'staff_totp_secret',
  accountOf: (email) => `staff ${email}`,
};

export function realmOf(person: PersonRef): Realm {
  return 'user_id' in person ? USERS : STAFF;
}

/** A user who asks for something of its own, in a session. */
export interface Person extends UserRef {
  /** The session. */
  family: string;
  /** The address that allow-lists see. */
  ip: string | null;
}

/** Returns the person behind a caller that is not an app. */
export function personOf({ merchant_id, asker }: Caller): Person {
  const { asked_user, asked_family, asked_ip } = asker;
  if (asked_user === null || asked_family === null) throw new Error('The caller is no person');
  return { merchant_id, user_id: asked_user, family: asked_family, ip: asked_ip };
}

/** Returns the fields of a security event that a person has caused. */
export function eventBy(person: Person): Omit<SecurityEvent, 'kind'> {
  const { merchant_id, user_id, family, ip } = person;
  return { merchant_id, user_id, family, ip };
}
