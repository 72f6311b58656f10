import {
  type Fields,
  optional,
  type Reader,
  type ValuesOf,
  withDefault,
} from '../../operations/field.ts';
import { integer } from '../../operations/readers.ts';
import type { Service } from '../../service/service.ts';
import { type Answer, type NeededRole, reads, type Verb } from '../verb.ts';
import type { Document } from './document.ts';
import { type Column, capitalized, type Empty, render, table } from './table.ts';

/** The columns and the JSON of rows of one kind. */
export interface View<Row> {
  /** One of them. With an s it also names the list in the JSON document. */
  what: string;
  /** The plural, unless it only adds an s. */
  plural?: string;
  /** The operator's name for a row, which --after takes. */
  keyOf(row: Row): number | string;
  document(row: Row): Document;
  /** The columns of a list. */
  columns: readonly Column<Row>[];
  empty?: Empty;
}

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 500;
const LIMIT_HELP = `The most rows. Default: ${DEFAULT_LIMIT}; at most ${MAX_LIMIT}`;
const limit = withDefault('limit', integer('COUNT', 1, MAX_LIMIT), LIMIT_HELP, DEFAULT_LIMIT);

type Page<Spec extends Fields, Key> = ValuesOf<Spec> & { after: Key | undefined; limit: number };

/** A verb that lists rows, page by page. `after` reads the key of the row before the page. */
export function lists<Row extends object, Key, const Spec extends Fields = Fields>(
  view: View<Row>,
  after: Reader<Key>,
  verb: {
    role: NeededRole;
    summary: string;
    notes?: string;
    options?: Spec;
    /** Checks values that depend on each other. @throws UsageError with a whole message. */
    check?(values: ValuesOf<Spec>): void;
    read(service: Service, page: Page<Spec, Key>): Promise<Row[]>;
  },
): Verb {
  const paging = { after: optional('after', after, 'Start after this one'), limit };
  return reads({
    ...verb,
    options: { ...(verb.options as Fields), ...paging },
    check: (values) => verb.check?.(values as ValuesOf<Spec>),
    run: async (service, values) => {
      const size = Number(values.limit);
      // One more row tells whether there is another page.
      const page = { ...values, limit: size + 1 } as Page<Spec, Key>;
      const rows = await verb.read(service, page);
      return listAnswer(view, rows.slice(0, size), rows.length > size);
    },
  });
}

function listAnswer<Row extends object>(view: View<Row>, rows: Row[], isMore: boolean): Answer {
  const { what, plural = `${what}s` } = view;
  const next = isMore ? view.keyOf(rows.at(-1)!) : null;
  const more = isMore ? `; there are more: --after ${next}` : '';
  const count = `(${rows.length} ${rows.length === 1 ? what : plural}${more})`;
  return {
    data: { [plural.replaceAll(' ', '_')]: rows.map((row) => view.document(row)), next },
    lines: rows.length === 0 ? [`No ${plural}`] : [table(rows, view.columns), count],
    count: rows.length,
  };
}

/** A row, after a line that names it. */
export function recordLines<Row>(view: View<Row>, row: Row): string[] {
  const title = `${capitalized(view.what)} ${view.keyOf(row)}`;
  return [title, ...render(view.document(row), view.empty)];
}

/** Shows what is stored nowhere in plain text. */
export function shownOnce(what: string, value: string): string {
  return `The ${what}, which is shown only this once: ${value}`;
}

/** Says that something has a state now, or had it before. */
export function outcome(isChanged: boolean, state = 'like that'): string {
  return isChanged ? `is ${state} now` : `is ${state} ${ALREADY}`;
}

/** Ends a sentence about a change that was not needed. */
export const ALREADY = 'already: nothing was changed';
