import { type Audited, auditedFor } from '../../domain/audited-change.ts';
import type { StaffRole } from '../../domain/staff/staff.ts';
import { requireStillMember } from '../../domain/staff/staff-session.ts';
import { ROUTES, type RouteName } from '../routes.ts';
import type { Visit } from '../visit.ts';

/** The routes that need a role. */
export type RouteWithRole = {
  [Name in RouteName]: (typeof ROUTES)[Name]['role'] extends StaffRole ? Name : never;
}[RouteName];

/**
 * Makes changes in the name of the member, each with its line in the audit log. Each transaction
 * checks again that the member may use the route.
 * @param action is noun and verb, as the command line names it
 */
export function auditedBy(
  { service, member, session }: Visit,
  route: RouteWithRole,
  { action, reason }: { action: string; reason: string },
): Audited {
  const { role } = ROUTES[route];
  return auditedFor(service.database, { actor: member.email, action, reason }, (trx) =>
    requireStillMember(trx, session, role),
  );
}
