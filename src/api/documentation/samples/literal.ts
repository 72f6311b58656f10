/** The way in which a language writes values of JSON. */
export interface Dialect {
  object: readonly [open: string, close: string];
  array: readonly [open: string, close: string];
  pair: (name: string, value: string) => string;
  /** Words for true, false and null. */
  words: Readonly<Record<string, string>>;
}

const INDENT = 4;

/** Writes a value of JSON as a literal, on lines that are indented this far. Texts are in single quotes. */
export function literal(value: unknown, dialect: Dialect, indent: number): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object' || value === null) {
    const word = String(value);
    return dialect.words[word] ?? word;
  }
  const isArray = Array.isArray(value);
  const items = isArray
    ? value.map((item) => literal(item, dialect, indent + INDENT))
    : Object.entries(value).map(([name, field]) =>
        dialect.pair(name, literal(field, dialect, indent + INDENT)),
      );
  const [open, close] = isArray ? dialect.array : dialect.object;
  const lines = items.map((item) => `${' '.repeat(indent + INDENT)}${item},\n`);
  return `${open}\n${lines.join('')}${' '.repeat(indent)}${close}`;
}

/** Quotes a text in the way in which JavaScript, Python and PHP read it alike. */
export function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
