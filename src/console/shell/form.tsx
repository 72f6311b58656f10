import type { ComponentChildren } from 'preact';
import { CSRF_FIELD } from '../access/csrf.ts';
import type { OpenVisit } from '../visit.ts';

/** The longest reason that the audit log takes. */
export const MAX_REASON_LENGTH = 500;

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

export interface FieldProps {
  name: string;
  label: string;
  type?: 'text' | 'email' | 'password' | 'search';
  value?: string | undefined;
  hint?: string;
  autocomplete?: string;
  inputmode?: 'numeric' | 'text';
  minLength?: number;
  maxLength?: number;
  /** Default: true. */
  required?: boolean;
}

/** A field with its label, and a hint below it. */
export function Field({ label, hint, ...attributes }: FieldProps) {
  const { name } = attributes;
  const hintId = hint ? `${name}-hint` : undefined;
  // The types of Preact want to know the type of an input from its source.
  const input = { type: 'text', ...attributes, 'aria-describedby': hintId } as object;
  return (
    <p class="field">
      <label for={name}>{label}</label>
      <input id={name} required {...input} />
      {hint && (
        <span id={hintId} class="hint">
          {hint}
        </span>
      )}
    </p>
  );
}

interface ReasonFormProps {
  visit: OpenVisit;
  action: string;
  /** The words of the button: a verb and its object. */
  verb: string;
  reason?: string | undefined;
  problem?: string | undefined;
  /** Where to go without doing it. */
  back: string;
  /** More fields, and what will happen. */
  children?: ComponentChildren;
}

/** A form that changes something: it says why, because the audit log keeps it. */
export function ReasonForm({
  visit,
  action,
  verb,
  reason,
  problem,
  back,
  children,
}: ReasonFormProps) {
  return (
    <form class="card" method="post" action={action}>
      <Token visit={visit} />
      <FormProblem words={problem} />
      {children}
      <Field
        name="reason"
        label="Reason"
        value={reason}
        hint="The audit log keeps it, with your name"
        maxLength={MAX_REASON_LENGTH}
        autocomplete="off"
      />
      <p class="buttons">
        <button type="submit">{verb}</button>
        <a href={back}>Do nothing</a>
      </p>
    </form>
  );
}
