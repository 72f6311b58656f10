import { type Answer, optionalOr } from './command.ts';
import { columns } from './output.ts';
import { integer } from './readers.ts';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 500;

export const limitOption = optionalOr(
  integer('COUNT', 1, MAX_LIMIT),
  DEFAULT_LIMIT,
  `How many at most. Default: ${DEFAULT_LIMIT}, at most ${MAX_LIMIT}`,
);

/** How a list of things is shown. */
export interface ListView<Row> {
  /** One of them, in the singular; with an s it names the list of the JSON document, too. */
  what: string;
  /** Where an s is not enough. */
  plural?: string;
  /** What the list is ordered by, and --after takes. */
  keyOf(row: Row): number | string;
  document(row: Row): object;
  /** Titles and cells of the table. */
  titles: string[];
  cells(row: Row): string[];
}

/**
 * Reads one row more than is shown, so as to know whether there are more.
 * @param read is given how many rows to read.
 */
export async function answerList<Row>(
  view: ListView<Row>,
  limit: number,
  read: (limit: number) => Promise<Row[]>,
): Promise<Answer> {
  const found = await read(limit + 1);
  const page = found.slice(0, limit);
  const next = found.length > limit ? view.keyOf(page.at(-1)!) : null;
  return {
    data: { [pluralOf(view).replaceAll(' ', '_')]: page.map((row) => view.document(row)), next },
    lines: table(view, page, next),
  };
}

function table<Row>(view: ListView<Row>, page: Row[], next: number | string | null): string[] {
  if (page.length === 0) return [`No ${pluralOf(view)}`];
  const count = `${page.length} ${page.length === 1 ? view.what : pluralOf(view)}`;
  return [
    ...columns([view.titles, ...page.map((row) => view.cells(row))]),
    next === null ? `(${count})` : `(${count}; there are more: --after ${next})`,
  ];
}

function pluralOf<Row>({ what, plural = `${what}s` }: ListView<Row>): string {
  return plural;
}
