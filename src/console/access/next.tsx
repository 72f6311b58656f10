import type { OpenVisit } from '../visit.ts';
import { ownPath } from './own-path.ts';

/** The field that carries the page which a member wanted through the steps of a log-in. */
export function Next({ visit: { query, form } }: { visit: Pick<OpenVisit, 'query' | 'form'> }) {
  return <input type="hidden" name="next" value={ownPath(query.next ?? form.next)} />;
}
