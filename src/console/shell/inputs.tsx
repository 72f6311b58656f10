import { OperatorRefusal } from '../../domain/errors.ts';
import { DEFAULT_ZONE } from '../../domain/period.ts';
import { VEILED } from '../../domain/veil.ts';
import { type Field as AnyField, inputName, UsageError } from '../../operations/field.ts';
import type { Operation, Page } from '../../operations/operation.ts';
import { Check, Checks, Choice, Field } from './fields.tsx';

/** The texts that an address or a form gives. */
export type Given = Readonly<Record<string, string>>;

/** A page of an operation. */
export interface Paged<Subject> {
  operation: Operation<Subject>;
  page: Page<Subject>;
}

type Named = readonly [name: string, field: AnyField<unknown>];

/** Returns the fields that a page has inputs for. */
export function inputsOf<Subject>({ operation, page }: Paged<Subject>): Named[] {
  const { asks = Object.keys(operation.fields) } = page;
  const isAsked = ([name, { input, words, isRequired }]: Named) => {
    const isOpen = isRequired || words?.length !== 1;
    return asks.includes(name) && !(name in (page.gives ?? {})) && input !== 'pipe' && isOpen;
  };
  return Object.entries(operation.fields).filter(isAsked);
}

/** Tells whether every required input has a text. */
export function isComplete<Subject>(paged: Paged<Subject>, given: Given): boolean {
  return inputsOf(paged).every(([name, { isRequired }]) => !isRequired || given[inputName(name)]);
}

/**
 * Reads the values of a page as the command line reads its options. A day is one of Nairobi.
 * @param more has values that no input gives, such as a file
 * @throws OperatorRefusal that says what a field must be
 */
export function valuesIn<Subject>(
  paged: Paged<Subject>,
  subject: Subject,
  given: Given,
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  const inputs = new Map(inputsOf(paged));
  const read = Object.entries(paged.operation.fields).map(([name, field]) => {
    const text = inputs.has(name) ? textIn([name, field], paged.page, subject, given) : undefined;
    return [name, refusing(`${field.label} `, () => field.read(text, DEFAULT_ZONE))];
  });
  const values = { ...Object.fromEntries(read), ...paged.page.gives, ...more };
  refusing('', () => paged.operation.check?.(values));
  return values;
}

/** Refuses what the command line calls a wrong usage. @param about begins the message */
function refusing<Value>(about: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new OperatorRefusal(`${about}${error.message}`);
  }
}

/** An input that is required, or that the form has opened with a text, must not be empty. */
function textIn<Subject>(
  [name, field]: Named,
  page: Page<Subject>,
  subject: Subject,
  given: Given,
): string | undefined {
  const input = inputName(name);
  if (field.input === 'box') return given[input] === 'on' ? '' : undefined;
  if (field.input === 'boxes') {
    const text = checkedIn(name, field, given).join(',') || field.none;
    if (text !== undefined) return text;
    throw new OperatorRefusal(`Check at least one of these: ${field.label}`);
  }
  const isNeeded = field.isRequired || openingText([name, field], page, subject) !== '';
  return given[input] || (isNeeded ? '' : undefined);
}

function checkedIn(name: string, { words = [] }: AnyField<unknown>, given: Given): string[] {
  return words.filter((word) => given[`${inputName(name)}_${word}`] === 'on');
}

function openingText<Subject>([name, field]: Named, page: Page<Subject>, subject: Subject): string {
  const { isPersonal, initial = '', write } = field;
  const value = isPersonal ? undefined : page.now?.(subject)[name];
  return value === undefined ? initial : write(value);
}

interface InputsProps<Subject> {
  paged: Paged<Subject>;
  subject: Subject;
  /** The texts that were given before. */
  given: Given;
  /** The form was sent before, and was refused. */
  isAgain: boolean;
}

/** The inputs of a page, with the texts that were given before, or the present values. */
export function Inputs<Subject>({ paged, subject, given, isAgain }: InputsProps<Subject>) {
  const { page } = paged;
  const now = page.now?.(subject) ?? {};
  return inputsOf(paged).map(([key, field]) => {
    const { input, label, help, words = [], unchosen = 'not chosen' } = field;
    const name = inputName(key);
    if (input === 'box') return <Check name={name} label={help} on={given[name] === 'on'} />;
    if (input === 'boxes') {
      const on = isAgain ? checkedIn(key, field, given) : ((now[key] ?? []) as string[]);
      return <Checks prefix={`${name}_`} legend={label} words={words} on={on} />;
    }
    const opening = openingText([key, field], page, subject);
    const value = given[name] ?? opening;
    const required = field.isRequired || opening !== '';
    if (input === 'choice') {
      const none = required ? {} : { none: unchosen };
      return (
        <Choice name={name} label={label} value={value} hint={help} choices={words} {...none} />
      );
    }
    const hint = field.isPersonal ? `Empty: it stays ${VEILED.account(String(now[key]))}` : help;
    return (
      <Field
        name={name}
        label={label}
        value={value}
        hint={hint}
        required={required}
        type={input as 'text' | 'email' | 'date'}
      />
    );
  });
}
