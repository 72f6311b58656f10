import type { Identifiers } from './identifiers.ts';
import type { Floats } from './money.ts';
import type { Posts } from './posts.ts';
import type { Quirks } from './quirks.ts';
import type { Tokens } from './tokens.ts';
import type { Transactions } from './transactions.ts';

/** The credentials of the app. The simulator checks only those that are set. */
export interface AppSettings {
  consumerKey?: string;
  consumerSecret?: string;
  passkey?: string;
  /** STK pushes for any other shortcode are refused. */
  shortCode?: string;
  /** Takes STK timestamps of any time, and not only of the last and next minutes. */
  anyTimestamp?: boolean;
}

/** Everything that the routes of one simulator share. */
export interface World {
  app: AppSettings;
  /** The time from a question to its answer by callback. */
  delayMs: number;
  ids: Identifiers;
  tokens: Tokens;
  quirks: Quirks;
  floats: Floats;
  transactions: Transactions;
  posts: Posts;
  /** Requests of each payment that were not taken. */
  notTaken: Map<string, number>;
}
