import { createHash } from 'node:crypto';

/** A statement as the driver takes it, without its values. */
interface Statement {
  text: string;
  /** PostgreSQL keeps the plan under this name, in each session. Undefined: it keeps none. */
  name: string | undefined;
  /** The names of the values `$1`, `$2` and so on. */
  bindings: string[];
}

/**
 * So many statements are kept at most, in each session too. The service has some two hundred. More
 * would mean that a text varies with the data: then the rest runs without a name.
 */
const MAX_KEPT = 1_000;
const kept = new Map<string, Statement>();

/** `:name`, but not after a word or a colon, as in 'wallet:payout' or in a cast. */
const BINDING = /(?<![\w:]):([a-z_]\w*)/gi;

/**
 * Returns a statement with numbers in place of the names of its bindings. Its own name comes from
 * its text, so it means the same in every process, also behind a pooler.
 */
export function statementOf(sql: string): Statement {
  const known = kept.get(sql);
  if (known) return known;
  const bindings: string[] = [];
  const text = sql.replaceAll(BINDING, (_, binding: string) => {
    if (!bindings.includes(binding)) bindings.push(binding);
    return `$${bindings.indexOf(binding) + 1}`;
  });
  if (kept.size >= MAX_KEPT) return { text, name: undefined, bindings };
  const name = createHash('sha256').update(text).digest('base64url');
  const statement = { text, name, bindings };
  kept.set(sql, statement);
  return statement;
}

/** Returns the values of a statement in their order. @throws Error when one is missing. */
export function valuesOf({ bindings, text }: Statement, given: object): unknown[] {
  return bindings.map((binding) => {
    const value = (given as Record<string, unknown>)[binding];
    if (value === undefined) throw new Error(`The value :${binding} is missing for: ${text}`);
    return value;
  });
}
