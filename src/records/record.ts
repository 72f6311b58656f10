import { formatAmount } from '../domain/money.ts';
import { type ObjectSchema, object, type Schema } from './schema.ts';

/**
 * How the console shows a value. It veils an `account` and a `text`, numbers in a merchant's
 * `reference`, and all of a `foreign` text, which somebody outside chose.
 */
type Kind =
  | 'plain'
  | 'account'
  | 'text'
  | 'reference'
  | 'foreign'
  | 'money'
  | 'merchant'
  | 'channel';

/** The label of a field in the console, and its kind unless it is plain. */
type Label = string | readonly [label: string, kind: Kind];

type Value = string | number | boolean | Date | null;

/** One field of a record. */
export interface Field<Row> {
  schema: Schema;
  /** Returns the value in an answer of the API. */
  read: (row: Row) => unknown;
  /** Null if the console leaves the field out on purpose. */
  label: Label | null;
  /** Returns the value that the console formats. */
  raw: (row: Row) => Value;
}

/** A field that shows the column of its own name, and is a fact in the console. */
interface LabelledField {
  schema: Schema;
  label: Label;
}

/** A schema alone shows the column of the field's name to the API only. */
type Entry<Row> = Schema | LabelledField | Field<Row>;
type Entries<Row> = Readonly<Record<string, Entry<Row>>>;

/** Refuses an entry that shows the column of its own name if the row has no such column. */
type Checked<Row, Given> = {
  [Name in keyof Given]: Given[Name] extends Field<never>
    ? unknown
    : Name extends keyof Row
      ? unknown
      : never;
};

export type Fields<Row> = Readonly<Record<string, Field<Row>>>;

/** A field that shows one column: a moment in ISO 8601, other values as they are. */
export function column<Name extends string>(
  name: Name,
  schema: Schema,
  label: Label | null = null,
): Field<Record<Name, Value>> {
  const raw = (row: Record<Name, Value>) => row[name];
  const read = (row: Record<Name, Value>) => {
    const value = row[name];
    return value instanceof Date ? value.toISOString() : value;
  };
  return { schema, read, label, raw };
}

/** A field that shows the column of its own name, and is a fact in the console. */
export function fact(schema: Schema, label: string, kind: Kind = 'plain'): LabelledField {
  return { schema, label: [label, kind] };
}

/** A field that shows an amount. */
export function cents<Name extends string>(
  name: Name,
  schema: Schema,
  label: string | null = null,
): Field<Record<Name, number>> {
  const raw = (row: Record<Name, number>) => row[name];
  const read = (row: Record<Name, number>) => formatAmount(row[name]);
  return { schema, read, label: label && [label, 'money'], raw };
}

/** A field that is computed from columns. The console shows these columns instead. */
export function computed<Row>(schema: Schema, read: (row: Row) => unknown): Field<Row> {
  return { schema, read, label: null, raw: () => null };
}

/** Columns that merchants never see, with their labels in the console. Null leaves one out. */
export function insideColumns<Name extends string>(
  labels: Readonly<Record<Name, Label | null>>,
): Fields<Record<Name, Value>> {
  const fields: Record<string, Field<Record<Name, Value>>> = {};
  for (const name in labels) fields[name] = column(name, {}, labels[name]);
  return fields;
}

function isField<Row>(entry: Entry<Row>): entry is Field<Row> {
  return 'read' in entry && 'raw' in entry;
}

function isLabelled(entry: Schema | LabelledField): entry is LabelledField {
  return 'schema' in entry && 'label' in entry;
}

function fieldsIn<Row>(entries: Entries<Row>): Fields<Row> {
  const fieldOf = ([name, entry]: [string, Entry<Row>]) => {
    if (isField(entry)) return [name, entry];
    const { schema, label } = isLabelled(entry) ? entry : { schema: entry, label: null };
    return [name, column(name, schema, label)];
  };
  return Object.fromEntries(Object.entries(entries).map(fieldOf));
}

/** A record as the API shows it. */
export interface Shown<Row> {
  schema: ObjectSchema;
  present: (row: Row) => Record<string, unknown>;
}

/** Makes the schema and the presenter of a record, once. Answers have the order of the fields. */
function shownOf<Row>(fields: Fields<Row>): Shown<Row> {
  const entries = Object.entries(fields);
  return {
    schema: object(Object.fromEntries(entries.map(([name, { schema }]) => [name, schema]))),
    present: (row) => Object.fromEntries(entries.map(([name, { read }]) => [name, read(row)])),
  };
}

/** Returns a function that makes a record of `Row` from its fields. */
export function recordOf<Row>() {
  return <const Given extends Entries<Row>>(entries: Given & Checked<Row, Given>): Shown<Row> =>
    shownOf(fieldsIn<Row>(entries));
}

/** The answers of the API about a payment. Each shows other fields of it. */
export type Face = 'record' | 'detail' | 'listed';

/** The columns of a table of payments: groups of fields, each with the faces that show it. */
export type PaymentTable<Row> = readonly { on: readonly Face[]; fields: Fields<Row> }[];

/** Returns a function that makes a group of fields of `Row`, with the faces that show them. */
export function groupsOf<Row>() {
  return <const Given extends Entries<Row>>(
    on: readonly Face[],
    entries: Given & Checked<Row, Given>,
  ) => ({ on, fields: fieldsIn<Row>(entries) });
}

/** Makes the schema and the presenter of one face of a payment. */
export function faceOf<Row>(table: PaymentTable<Row>, face: Face): Shown<Row> {
  const groups = table.filter((group) => group.on.includes(face));
  return shownOf(Object.fromEntries(groups.flatMap(({ fields }) => Object.entries(fields))));
}

/** A fact about a payment, for the console. */
export interface Fact {
  label: string;
  kind: Kind;
  value: Value;
}

/** Returns a function that lists the facts about a payment. */
export function factsOf<Row>(table: PaymentTable<Row>): (row: Row) => Fact[] {
  const fields = table.flatMap((group) => Object.values(group.fields));
  const facts = fields.flatMap(({ label, raw }) => {
    if (label === null) return [];
    const [text, kind = 'plain'] = typeof label === 'string' ? [label] : label;
    return [{ label: text, kind, raw }];
  });
  return (row) => facts.map(({ label, kind, raw }) => ({ label, kind, value: raw(row) }));
}
