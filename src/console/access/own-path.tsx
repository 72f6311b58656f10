import type { Request } from 'express';
import { pathTo, type Route, type RouteName } from '../routes.ts';
import type { OpenVisit } from '../visit.ts';

/** One slash, then visible characters of ASCII. Two slashes, or a slash and `\`, begin a host. */
const OWN_PATH = /^\/(?![/\\])[!-~]*$/;

/** Returns an address of this console. Anything else could lead to a copy of the console. */
export function ownPath(path = '/'): string {
  return OWN_PATH.test(path) ? path : '/';
}

/** Returns the address of a page that a request must see first, and that leads back afterwards. */
export function detour(first: RouteName, req: Request, route: Route): string {
  const next = ownPath(pageOf(req, route));
  return next === '/' ? pathTo(first) : `${pathTo(first)}?${new URLSearchParams({ next })}`;
}

/** The page of a request. A part of a page is no page: htmx says which one is around it. */
function pageOf(req: Request, { method, isPart }: Route): string | undefined {
  if (!isPart) return method === 'get' ? req.originalUrl : undefined;
  const around = req.get('HX-Current-URL') ?? '';
  if (!URL.canParse(around)) return undefined;
  const { pathname, search } = new URL(around);
  return `${pathname}${search}`;
}

/** The field that carries the page which a member wanted through the steps of a log-in. */
export function Next({ visit: { query, form } }: { visit: Pick<OpenVisit, 'query' | 'form'> }) {
  return <input type="hidden" name="next" value={ownPath(query.next ?? form.next)} />;
}
