import { mayUse, pathTo, type RouteName } from '../routes.ts';
import type { Visit } from '../visit.ts';
import { Token } from './form.tsx';

/** The button that shows personal data for one time. Nothing for who may not. */
export function RevealForm({ visit, route }: { visit: Visit; route: RouteName }) {
  if (!mayUse(visit.member.role, route)) return null;
  return (
    <form method="post" action={pathTo(route, visit.params)}>
      <Token visit={visit} />
      <p class="buttons">
        <button type="submit" class="quiet">
          Reveal personal data
        </button>
        <span class="hint">The audit log keeps that you did</span>
      </p>
    </form>
  );
}
