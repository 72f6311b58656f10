import type { Request } from 'express';
import {
  type MissingProof,
  memberOfSession,
  missingProof,
} from '../../domain/credentials/staff-session.ts';
import { StaffRefusal } from '../../domain/staff/require-staff.ts';
import { mayActAs } from '../../domain/staff/staff.ts';
import { addressOf } from '../../http/caller.ts';
import type { Route, RouteName } from '../routes.ts';
import { ConsoleError, type ConsoleService, type OpenVisit, type ProvenVisit } from '../visit.ts';
import { csrfTokenOf } from './csrf.ts';
import { detour } from './own-path.tsx';
import { endSession } from './session.ts';
import type { Upload } from './upload.ts';

/** The pages that complete a session: one-time password and set-up. */
const NEXT: Readonly<Record<NonNullable<MissingProof>, RouteName>> = {
  'one-time password': 'otpForm',
  'set-up': 'setUpForm',
};

/**
 * Returns a request as its handlers take it.
 * @throws ConsoleError when a text has a character that PostgreSQL cannot keep
 */
export function openVisit(service: ConsoleService, req: Request): OpenVisit {
  return {
    service,
    req,
    ip: addressOf(req),
    csrfToken: csrfTokenOf(req),
    warnings: [],
    params: textsOf(req.params),
    query: textsOf(req.query),
    form: textsOf(req.body),
  };
}

/**
 * Finds out who sends a request, and requires that this member may use the route.
 * @returns the address to go to instead, when the session has ended or lacks something
 * @throws StaffRefusal when the role of the member may not
 */
export async function admit(
  service: ConsoleService,
  req: Request,
  route: Route,
): Promise<{ visit: ProvenVisit } | { goTo: string }> {
  const { staff } = req.session;
  const of = { sid: req.sessionID, isUse: !route.isPart };
  const found = staff && (await memberOfSession(service.database, staff, of));
  if (!found) {
    if (staff) await endSession(req);
    return { goTo: detour('logInForm', req, route) };
  }
  const { member, session } = found;
  if (session !== staff) req.session.staff = session;
  if (route.role !== 'password') {
    const missing = missingProof(member, session);
    if (missing) return { goTo: detour(NEXT[missing], req, route) };
    requireRole(member, route);
  }
  return { visit: { ...openVisit(service, req), member, session } };
}

function requireRole({ email: staff, role }: ProvenVisit['member'], route: Route): void {
  const needed = route.role;
  if (needed === 'anyone' || needed === 'password' || mayActAs(role, needed)) return;
  const detail = { why: 'role', action: `console ${route.method} ${route.path}` };
  throw new StaffRefusal(`This needs the role ${needed}, and you have the role ${role}`, {
    staff,
    detail,
  });
}

function textsOf(fields: unknown): Record<string, string> {
  const given = Object.entries((fields ?? {}) as Record<string, unknown>);
  if (given.some(([, value]) => hasNul(value))) {
    throw new ConsoleError(400, 'This request has a character that no text may have');
  }
  return Object.fromEntries(
    given.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value.trim()]] : [])),
  );
}

/** Looks at a text, or at the name of a file. */
function hasNul(value: unknown): boolean {
  const text = typeof value === 'string' ? value : (value as Partial<Upload> | undefined)?.name;
  return typeof text === 'string' && text.includes('\0');
}
