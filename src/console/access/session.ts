import type { Request, RequestHandler } from 'express';
import session from 'express-session';
import type { StaffSession } from '../../domain/staff/staff-session.ts';
import type { Service } from '../../process/boot.ts';
import { derivedKey } from '../../process/key-ring.ts';
import { createSessionStore } from './session-store.ts';

declare module 'express-session' {
  interface SessionData {
    staff: StaffSession;
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
 * Puts a member into a session with a new id, so that whoever knew the id before does not know
 * it any more. It is stored before the answer, so that the next page finds it.
 */
export async function renewSession(req: Request, staff: StaffSession): Promise<void> {
  await settled((done) => req.session.regenerate(done));
  req.session.staff = staff;
  await settled((done) => req.session.save(done));
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
