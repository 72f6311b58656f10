import type { Knex } from 'knex';
import { UPDATED_OFTEN } from './storage.ts';

/** The people, and machines, that use the operator's command line and the support console. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE staff (
      id uuid PRIMARY KEY,
      name text NOT NULL,
      email text NOT NULL CHECK (email = lower(email)) UNIQUE,
      role text NOT NULL CHECK (role IN ('viewer', 'support', 'admin')),
      active boolean NOT NULL DEFAULT true,
      -- SHA-256 is enough for a random token of 32 bytes. A new token takes the place of the old.
      token_hash bytea NOT NULL UNIQUE,
      -- The beginning of the token, to recognize it by.
      token_prefix text NOT NULL,
      token_expires_at timestamptz NOT NULL,
      -- In the form of users.password_hash. NULL: the member cannot log in to the console.
      password_hash text,
      -- Sessions of the console are good while this is the number that they began with.
      session_no integer NOT NULL DEFAULT 1,
      -- Log-ins to the console, and changes of staff, need a one-time password of this member. Its
      -- secret is in staff_totp_secrets.
      totp boolean NOT NULL DEFAULT false,
      created_at timestamptz NOT NULL DEFAULT now()
    );
    -- As totp_secrets. While staff.totp is false, it is not confirmed.
    CREATE TABLE staff_totp_secrets (
      id uuid PRIMARY KEY,
      staff_id uuid NOT NULL UNIQUE REFERENCES staff (id),
      key_id text NOT NULL,
      ciphertext bytea NOT NULL,
      last_step bigint NOT NULL DEFAULT 0,
      created_at timestamptz NOT NULL DEFAULT now()
    ) WITH (${UPDATED_OFTEN});
    -- Without any rows the command line would take everybody's word again.
    CREATE TRIGGER staff_kept BEFORE DELETE OR TRUNCATE ON staff
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
  `);
}
