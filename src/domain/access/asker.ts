import { type Database, firstRow } from '../../connections/database.ts';

/** Who asked for a payment or a transfer, as its row keeps it. All null: no request asked for it. */
export interface Asker {
  /** The family of the token. Its row is deleted some days after its end. */
  asked_family: string | null;
  /** The token's app, which may be another one than the payment is booked on. Null for a person. */
  asked_app: number | null;
  asked_user: string | null;
  /** The address that the app's allow-list sees. Null when the connection was gone. */
  asked_ip: string | null;
  /** The request's id, which the caller knows from X-Request-Id. */
  asked_request: string | null;
}

export const NOBODY: Asker = {
  asked_family: null,
  asked_app: null,
  asked_user: null,
  asked_ip: null,
  asked_request: null,
};

/** The columns of an INSERT, and its values. */
export const ASKER_COLUMNS = 'asked_family, asked_app, asked_user, asked_ip, asked_request';
export const ASKER_VALUES = ':asked_family, :asked_app, :asked_user, :asked_ip, :asked_request';

type Asked = Asker & { merchant_id: number };

/** Display names of the asker. Null for a name that is unknown. */
export interface AskerNames {
  asked_app_name: string | null;
  asked_user_email: string | null;
  asked_user_name: string | null;
}

/** Reads the names of who asked for a payment, as they are now. */
export async function askerNames(database: Database, asked: Asked): Promise<AskerNames> {
  const names = await firstRow<AskerNames>(
    database,
    `SELECT a.name AS asked_app_name, u.email AS asked_user_email, u.name AS asked_user_name
     FROM merchants m
     LEFT JOIN apps a ON a.merchant_id = m.id AND a.code = :asked_app
     LEFT JOIN users u ON u.merchant_id = m.id AND u.id = :asked_user
     WHERE m.id = :merchant_id`,
    asked,
  );
  return names!;
}

/** Says who asked for a payment: `app`, or the user's e-mail. Null when no request did. */
export async function creatorOf(database: Database, asked: Asked): Promise<string | null> {
  if (asked.asked_app !== null) return 'app';
  if (asked.asked_user === null) return null;
  return (await askerNames(database, asked)).asked_user_email;
}
