import { createHash } from 'node:crypto';
import { callbackify } from 'node:util';
import connectPgSimple from 'connect-pg-simple';
import type { Request, RequestHandler } from 'express';
import session, { type SessionData, type Store } from 'express-session';
import type { Pool } from 'pg';
import { type Database, rows } from '../../connections/database.ts';
import { withOrigin } from '../../domain/audit/origin.ts';
import { SESSION_MAX_MS, type StaffSession } from '../../domain/credentials/staff-session.ts';
import { addressOf, logFieldsOf } from '../../http/caller.ts';
import { derivedKey } from '../../process/key-ring.ts';
import type { Service } from '../../service/service.ts';
import { MINUTE_MS } from '../../time.ts';

declare module 'express-session' {
  interface SessionData {
    staff: StaffSession;
    /** Says on the page to which a form led what it has done. */
    done?: { path: string; words: string; at: number };
  }
}

const PURPOSE = 'console-session';

/** Reads the session of a request from its cookie. The cookie has no life of its own. */
export function createSessions({ config, database }: Service): RequestHandler {
  const isSecure = config.consoleUrl.startsWith('https:');
  const { current, byId } = config.secretsKeys;
  const others = [...byId.values()].filter((key) => key !== current);
  return session({
    // A browser takes a __Host- cookie over HTTPS only, for this host and all paths.
    name: isSecure ? '__Host-malipo-console' : 'malipo-console',
    secret: [current, ...others].map((key) => derivedKey(key, PURPOSE).toString('base64')),
    store: createSessionStore(database),
    cookie: { httpOnly: true, secure: isSecure, sameSite: 'lax', path: '/' },
    resave: false,
    // The form of the log-in needs an id. The store keeps no row of it.
    saveUninitialized: true,
    unset: 'destroy',
  });
}

/**
 * Puts a member into a session with a new id, so that a stranger who knew the old id has
 * nothing. It is stored before the answer, so that the next page finds it.
 */
export async function renewSession(req: Request, staff: StaffSession): Promise<void> {
  await settled((done) => req.session.regenerate(done));
  req.session.staff = staff;
  await settled((done) => req.session.save(done));
}

/** A page that is opened later does not say what was done: somebody may have undone it. */
const DONE_SHOWN_MS = MINUTE_MS;

/**
 * Keeps what a form has done for the page to which it leads. Stored before the answer, as above. If that fails, the
 * page does not say it: it is done.
 */
export async function keepDone({ session }: Request, goTo: string, words: string): Promise<void> {
  session.done = { path: goTo.replace(/[?#].*/, ''), words, at: Date.now() };
  await settled((done) => session.save(done)).catch(() => {
    delete session.done;
  });
}

/** Takes what a form has done that led to this page. The next page says it no more. */
export function takeDone({ session, path }: Request): string | undefined {
  const { done } = session;
  if (done?.path !== path) return undefined;
  delete session.done;
  return Date.now() - done.at < DONE_SHOWN_MS ? done.words : undefined;
}

/** Ends the session of a request, on all tabs. */
export async function endSession(req: Request): Promise<void> {
  await settled((done) => req.session.destroy(done));
}

function settled(start: (done: (error?: unknown) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    start((error) => (error ? reject(error) : resolve()));
  });
}

/**
 * Gives each request its origin, for the audit log and the log lines. The session has a name of its
 * own there, because its id would let anybody in.
 */
export const rememberOrigin: RequestHandler = (req, res, next) => {
  const session = nameOfSession(req);
  const fields = Object.assign(logFieldsOf(res), { address: addressOf(req), session });
  const { address, request_id: request = null } = fields;
  // The caller has hung up, and nothing says any more from where it was.
  if (address === null) return void res.destroy();
  withOrigin({ door: 'console', address, session, request }, next);
};

/** Returns the name of a request's session. `listOwnSessions` gives the same. */
export function nameOfSession({ sessionID }: Request): string {
  return createHash('sha256').update(sessionID).digest('hex').slice(0, NAME_LENGTH);
}

const NAME_LENGTH = 12;

type Done = (error?: unknown) => void;

/**
 * Keeps the sessions of members in the table `console_sessions`, through the pool of the process: so TLS, poolers,
 * time-outs and kept plans are as everywhere. Retention removes what has ended.
 * A session without a member has no row, since anybody can start one: its id is all that it has.
 */
function createSessionStore(database: Database): Store {
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
