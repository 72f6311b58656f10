import { createHash } from 'node:crypto';
import { OperatorRefusal } from '../../domain/operator-refusal.ts';
import type { Visit } from '../visit.ts';

const FIELD = 'version';

/** Lets a form say which state of something its member has seen. */
export function Version({ of }: { of: unknown }) {
  return <input type="hidden" name={FIELD} value={versionOf(of)} />;
}

/**
 * Refuses a form that was made before a change of what it is about: by somebody else, or by the
 * same form, which a browser sends again when its answer is reloaded.
 * @throws OperatorRefusal
 */
export function requireVersion(form: Visit['form'], of: unknown): void {
  if (form[FIELD] === versionOf(of)) return;
  throw new OperatorRefusal(
    'It has changed since you opened this form: look at it again, and decide anew',
  );
}

function versionOf(of: unknown): string {
  return createHash('sha256').update(JSON.stringify(of)).digest('base64url');
}
