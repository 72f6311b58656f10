import type { ComponentChildren, ComponentProps } from 'preact';
import { Choice, Field } from './fields.tsx';
import { AGES, MAX_TEXT_LENGTH } from './read-fields.ts';

type Query = Readonly<Record<string, string>>;

interface FiltersProps {
  path: string;
  /** The words of the link to the page without filters. */
  clear?: string;
  children: ComponentChildren;
}

/** The fields that narrow a list. They stand in the address, so it can be sent to others. */
export function Filters({ path, clear = 'Show all', children }: FiltersProps) {
  return (
    <search>
      <form class="card filters" method="get" action={path}>
        {children}
        <p class="buttons">
          <button type="submit">Show</button>
          <a href={path}>{clear}</a>
        </p>
      </form>
    </search>
  );
}

interface FilterProps {
  name: string;
  label: string;
  query: Query;
}

/** A field that narrows nothing while it is empty. */
export function TextFilter({
  query,
  type = 'text',
  ...field
}: FilterProps & { type?: 'text' | 'number' | 'date' }) {
  const limits = type === 'text' ? { maxLength: MAX_TEXT_LENGTH } : {};
  return <Field {...field} type={type} {...limits} required={false} value={query[field.name]} />;
}

/** The first choice, `all`, is the one that narrows nothing, or that is taken without a choice. */
export function ChoiceFilter({
  query,
  all = 'all',
  ...field
}: FilterProps & Pick<ComponentProps<typeof Choice>, 'choices'> & { all?: string }) {
  return <Choice {...field} none={all} value={query[field.name]} />;
}

/** A filter by the time that rows have waited. */
export function AgeFilter(field: FilterProps) {
  const choices = Object.entries(AGES).map(([age, [words]]) => [age, words] as const);
  return <ChoiceFilter {...field} choices={choices} all="any" />;
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
