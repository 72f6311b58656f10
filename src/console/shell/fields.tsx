import { CSRF_FIELD } from '../access/csrf.ts';
import type { OpenVisit } from '../visit.ts';

interface FieldProps {
  name: string;
  label: string;
  type?: 'text' | 'email' | 'password' | 'number' | 'date';
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

interface ChoiceProps {
  name: string;
  label: string;
  /** Values, each with its words where they are not the same. */
  choices: readonly (string | readonly [value: string, words: string])[];
  value?: string | undefined;
  hint?: string;
  /** The words of an empty first choice; left out where one must be taken. */
  none?: string;
}

/** A choice of one out of some. */
export function Choice({ name, label, choices, value, hint, none }: ChoiceProps) {
  const hintId = hint ? `${name}-hint` : undefined;
  const pairs = choices.map((choice) => (typeof choice === 'string' ? [choice, choice] : choice));
  return (
    <p class="field">
      <label for={name}>{label}</label>
      <select id={name} name={name} aria-describedby={hintId}>
        {none !== undefined && <option value="">{none}</option>}
        {pairs.map(([each, words]) => (
          <option value={each} selected={each === value}>
            {words}
          </option>
        ))}
      </select>
      {hint && (
        <span id={hintId} class="hint">
          {hint}
        </span>
      )}
    </p>
  );
}

/** A box to check. */
export function Check({ name, label, on }: { name: string; label: string; on: boolean }) {
  return (
    <p>
      <label>
        <input type="checkbox" name={name} checked={on} /> {label}
      </label>
    </p>
  );
}

interface ChecksProps {
  prefix: string;
  legend: string;
  words: readonly string[];
  on: readonly string[];
}

/** A box for each of some words. `checkedWords` reads them. */
export function Checks({ prefix, legend, words, on }: ChecksProps) {
  return (
    <fieldset>
      <legend>{legend}</legend>
      {words.map((word) => (
        <Check name={`${prefix}${word}`} label={word} on={on.includes(word)} />
      ))}
    </fieldset>
  );
}

/** The field that every form needs. */
export function Token({ visit }: { visit: Pick<OpenVisit, 'csrfToken'> }) {
  return <input type="hidden" name={CSRF_FIELD} value={visit.csrfToken} />;
}

/** Shows the problem of a refused form, at its top. */
export function FormProblem({ words }: { words?: string | undefined }) {
  return words ? (
    <p class="form-problem" role="alert">
      {words}.
    </p>
  ) : null;
}
