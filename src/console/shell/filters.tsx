import type { ComponentChildren } from 'preact';
import { MAX_TEXT_LENGTH } from './given.ts';

type Query = Readonly<Record<string, string>>;

/** The fields that narrow a list. An empty field narrows nothing. */
export function Filters({ path, children }: { path: string; children: ComponentChildren }) {
  return (
    <form class="card filters" method="get" action={path}>
      {children}
      <p class="buttons">
        <button type="submit">Show</button>
        <a href={path}>Show all</a>
      </p>
    </form>
  );
}

interface FilterProps {
  name: string;
  label: string;
  query: Query;
}

export function TextFilter({
  name,
  label,
  query,
  type = 'text',
}: FilterProps & { type?: 'text' | 'number' | 'date' }) {
  // The types of Preact want to know the type of an input from its source.
  const input = { type, ...(type === 'text' && { maxLength: MAX_TEXT_LENGTH }) } as object;
  return (
    <p class="field">
      <label for={name}>{label}</label>
      <input id={name} name={name} value={query[name] ?? ''} {...input} />
    </p>
  );
}

/** The first choice is the one that narrows nothing, or that is taken without a choice. */
export function ChoiceFilter({
  name,
  label,
  query,
  words,
  all = 'all',
}: FilterProps & { words: readonly string[]; all?: string }) {
  return (
    <p class="field">
      <label for={name}>{label}</label>
      <select id={name} name={name}>
        <option value="">{all}</option>
        {words.map((word) => (
          <option value={word} selected={query[name] === word}>
            {word}
          </option>
        ))}
      </select>
    </p>
  );
}

/** The first and the last day, both included. */
export function DayFilters({ query }: { query: Query }) {
  return (
    <>
      <TextFilter name="since" label="From day" type="date" query={query} />
      <TextFilter name="until" label="To day" type="date" query={query} />
    </>
  );
}

/** The link to the rows after these, which keeps the filters. Nothing when there are none. */
export function NextPage({
  path,
  query,
  after,
}: {
  path: string;
  query: Query;
  after: string | null;
}) {
  if (after === null) return null;
  const given = Object.entries(query).filter(([, value]) => value !== '');
  const next = new URLSearchParams({ ...Object.fromEntries(given), after });
  return (
    <p class="buttons">
      <a class="button quiet" href={`${path}?${next}`}>
        Next page
      </a>
    </p>
  );
}
