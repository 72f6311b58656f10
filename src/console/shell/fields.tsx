interface ChoiceProps {
  name: string;
  label: string;
  words: readonly string[];
  value?: string | undefined;
  hint?: string;
}

/** A choice of one out of some words. */
export function Choice({ name, label, words, value, hint }: ChoiceProps) {
  const hintId = hint ? `${name}-hint` : undefined;
  return (
    <p class="field">
      <label for={name}>{label}</label>
      <select id={name} name={name} aria-describedby={hintId}>
        {words.map((word) => (
          <option value={word} selected={word === value}>
            {word}
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
