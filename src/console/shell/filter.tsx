import type { ComponentChildren } from 'preact';
import { ConsoleError } from '../console-error.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The ages that lists are filtered by, as they stand in an address. */
const AGES = {
  '1h': ['1 hour', HOUR_MS],
  '6h': ['6 hours', 6 * HOUR_MS],
  '24h': ['1 day', DAY_MS],
  '7d': ['7 days', 7 * DAY_MS],
  '30d': ['30 days', 30 * DAY_MS],
} as const;

/** Reads an age of an address in ms. Without a text it narrows nothing. @throws ConsoleError 400 */
export function ageMs(text: string | undefined): number | undefined {
  if (!text) return undefined;
  if (Object.hasOwn(AGES, text)) return AGES[text as keyof typeof AGES][1];
  throw new ConsoleError(400, `An age is one of ${Object.keys(AGES).join(', ')}`);
}

/**
 * Reads a number of an address, such as a merchant's id. Without a text it narrows nothing.
 * @throws ConsoleError 400 for another text: a typing error must not select more
 */
export function numberIn(text: string | undefined): number | undefined {
  if (!text) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new ConsoleError(400, `${JSON.stringify(text.slice(0, 20))} is not a whole number`);
}

interface FilterProps {
  path: string;
  children: ComponentChildren;
}

/** A form that narrows a list down. It stands in the address, so it can be sent to others. */
export function Filter({ path, children }: FilterProps) {
  return (
    <search class="card">
      <form method="get" action={path}>
        {children}
        <p class="buttons">
          <button type="submit">Filter</button>
          <a href={path}>Clear</a>
        </p>
      </form>
    </search>
  );
}

interface FilterFieldProps {
  name: string;
  label: string;
  value?: string | undefined;
}

/** A field of a filter, which may stay empty. */
export function FilterText({ label, ...field }: FilterFieldProps & { inputmode?: 'numeric' }) {
  return (
    <p class="field">
      <label for={field.name}>{label}</label>
      <input id={field.name} type="text" maxLength={200} {...(field as object)} />
    </p>
  );
}

/** A choice of a filter. */
export function FilterChoice({
  name,
  label,
  value = '',
  choices,
  all,
}: FilterFieldProps & {
  /** Values with their words. */
  choices: readonly (readonly [string, string])[];
  /** The words of no choice; left out where there must be one. */
  all?: string;
}) {
  return (
    <p class="field">
      <label for={name}>{label}</label>
      <select id={name} name={name}>
        {all !== undefined && <option value="">{all}</option>}
        {choices.map(([each, words]) => (
          <option value={each} selected={each === value}>
            {words}
          </option>
        ))}
      </select>
    </p>
  );
}

/** A choice of an age. */
export function FilterAge(field: FilterFieldProps) {
  const choices = Object.entries(AGES).map(([value, [words]]) => [value, words] as const);
  return <FilterChoice {...field} choices={choices} all="any" />;
}
