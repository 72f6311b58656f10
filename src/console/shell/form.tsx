import { CSRF_FIELD } from '../access/csrf.ts';
import type { OpenVisit } from '../visit.ts';

/** The field that every form needs. */
export function Token({ visit }: { visit: Pick<OpenVisit, 'csrfToken'> }) {
  return <input type="hidden" name={CSRF_FIELD} value={visit.csrfToken} />;
}

/** What was wrong with a form, at its top. */
export function FormProblem({ words }: { words?: string | undefined }) {
  return words ? (
    <p class="form-problem" role="alert">
      {words}.
    </p>
  ) : null;
}
