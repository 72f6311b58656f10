import type { Roles } from '../../scripts/sandbox/roles.ts';

/** The roles of a template, and of all databases that are cloned from it. */
export function rolesOf(serverUrl: string, template: string): Roles {
  const password = decodeURIComponent(new URL(serverUrl).password) || 'test';
  return { owner: `${template}_owner`, service: `${template}_service`, password };
}
