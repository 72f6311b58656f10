import { callbackify } from 'node:util';
import connectPgSimple from 'connect-pg-simple';
import session, { type SessionData, type Store } from 'express-session';
import type { Pool } from 'pg';
import { type Database, rows } from '../../connections/database.ts';
import { SESSION_MAX_MS } from '../../domain/staff/staff-session.ts';

type Done = (error?: unknown) => void;

/**
 * Keeps the sessions of members in the table `console_sessions`, through the pool of the process: so TLS, poolers,
 * time-outs and kept plans are as everywhere. Retention removes what has ended.
 * A session without a member has no row, since anybody can start one: its id is all that it has.
 */
export function createSessionStore(database: Database): Store {
  return new SessionStore(database);
}

class SessionStore extends connectPgSimple(session) {
  /** The sessions that were read or stored before. */
  readonly #stored = new WeakSet<SessionData>();
  readonly #update: (sid: string, session: SessionData, done: Done) => void;

  constructor(database: Database) {
    super({
      pool: { query: queryOf(database) } as unknown as Pool,
      tableName: 'console_sessions',
      ttl: SESSION_MAX_MS / 1_000,
      // `memberOfSession` decides when a session ends.
      disableTouch: true,
      pruneSessionInterval: false,
    });
    this.#update = callbackify((sid: string, session: SessionData) =>
      rows(database, UPDATE, { sid, sess: JSON.stringify(session) }),
    );
  }

  /** Finds a session. The cookie is signed, so an id without a row is one that we gave out. */
  override get(...[sid, done]: Parameters<Store['get']>): void {
    super.get(sid, (error, found) => done(error, error ? null : (found ?? withoutMember())));
  }

  override createSession(...read: Parameters<Store['createSession']>) {
    const found = super.createSession(...read);
    this.#stored.add(found);
    return found;
  }

  /**
   * Stores the session of a member. One that was stored before is only updated: a request that has read it must
   * not bring it back after a log-out.
   */
  override set(sid: string, session: SessionData, done: Done = () => undefined): void {
    const isStored = this.#stored.has(session);
    this.#stored.add(session);
    if (!session.staff) done();
    else if (isStored) this.#update(sid, session, done);
    else super.set(sid, session, done);
  }
}

function withoutMember(): SessionData {
  return { cookie: { originalMaxAge: null } } as SessionData;
}

const UPDATE = 'UPDATE console_sessions SET sess = CAST(:sess AS jsonb) WHERE sid = :sid';

/** Gives the numbered values of the store's few statements the names that `rows` wants. */
function queryOf(database: Database) {
  return async (text: string, values: unknown[]) => {
    const named = Object.fromEntries(values.map((value, index) => [`v${index + 1}`, value]));
    return { rows: await rows(database, text.replace(/\$(\d+)/g, ':v$1'), named) };
  };
}
