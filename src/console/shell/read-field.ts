import { type Reader, UsageError } from '../../admin/options/option.ts';
import { OperatorRefusal } from '../../domain/operator-refusal.ts';
import { DEFAULT_ZONE } from '../../domain/zone.ts';

type Fields = Readonly<Record<string, string>>;

/** A field of a form, with the words that stand above it. */
export interface FieldName {
  name: string;
  label: string;
}

/**
 * Reads a field as the command line reads its option. A day is one of Nairobi.
 * @throws OperatorRefusal that says what the field must be
 */
export function readField<Value>(
  form: Fields,
  { name, label }: FieldName,
  reader: Reader<Value>,
): Value {
  try {
    return reader.read(form[name] ?? '', DEFAULT_ZONE);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new OperatorRefusal(`${label} ${error.message}`);
  }
}

/** Reads a field that may be empty. @throws OperatorRefusal that says what the field must be */
export function readOptional<Value>(
  form: Fields,
  field: FieldName,
  reader: Reader<Value>,
): Value | undefined {
  return form[field.name] ? readField(form, field, reader) : undefined;
}

/** Returns those of the words whose boxes are checked. @param prefix begins the boxes' names */
export function checkedWords<Word extends string>(
  form: Fields,
  prefix: string,
  words: readonly Word[],
): Word[] {
  return words.filter((word) => form[`${prefix}${word}`] === 'on');
}
