import { createHash } from 'node:crypto';

/** A statement as the driver takes it, without its values. */
interface Statement {
  text: string;
  /** PostgreSQL keeps the plan under this name, in each session. Undefined: it keeps none. */
  name: string | undefined;
  /** The names of the values `$1`, `$2` and so on. */
  bindings: string[];
  generation: number;
}

/**
 * The most statements that are kept, in each session too. The service has some two hundred. More
 * would mean that a text varies with the data: then the rest runs without a name.
 */
const MAX_KEPT = 1_000;
const kept = new Map<string, Statement>();
let generation = 0;

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
  const numbered = sql.replaceAll(BINDING, (_, binding: string) => {
    if (!bindings.includes(binding)) bindings.push(binding);
    return `$${bindings.indexOf(binding) + 1}`;
  });
  const text = generation === 0 ? numbered : `${numbered} /* ${generation} */`;
  if (kept.size >= MAX_KEPT) return { text, name: undefined, bindings, generation };
  const name = createHash('sha256').update(text).digest('base64url');
  const statement = { text, name, bindings, generation };
  kept.set(sql, statement);
  return statement;
}

/**
 * Gives every statement another text and name, because a migration has made the plan of this one
 * stale. No session has a plan of the new names, however a pooler lends sessions.
 */
export function renewStatements(stale: Statement): void {
  // Several may find out at once.
  if (stale.generation !== generation) return;
  generation += 1;
  kept.clear();
}

/** Returns the values of a statement in their order. @throws Error when one is missing. */
export function valuesOf(
  { bindings, text }: Pick<Statement, 'bindings' | 'text'>,
  given: object,
): unknown[] {
  return bindings.map((binding) => {
    const value = (given as Record<string, unknown>)[binding];
    if (value === undefined) throw new Error(`The value :${binding} is missing for: ${text}`);
    return value;
  });
}
