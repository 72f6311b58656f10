import type { Approval } from '../domain/staff/approval-store.ts';
import { type Fields, optional } from '../operations/field.ts';
import { type Asked, type Operation, type Result, verbOf } from '../operations/operation.ts';
import { perform } from '../operations/perform.ts';
import { text } from '../operations/readers.ts';
import type { Service } from '../service/service.ts';
import { readPassword } from './options/new-password.ts';
import { shownOnce, type View } from './output/answers.ts';
import { rowDocument } from './output/document.ts';
import { moment, render } from './output/table.ts';
import { type Answer, type Change, changes, type Lines, type Verb } from './verb.ts';

const CODE_LENGTH = 6;
const OTP = {
  otp: optional(
    'otp',
    text('CODE', CODE_LENGTH),
    'Your one-time password, if you have set one-time passwords up',
  ),
};

/** Shows the results of operations with the names of a table's columns. */
interface ResultView extends Pick<View<object>, 'document' | 'empty'> {
  /** The lines below the title. Default: the whole row, the facts and the notes. */
  lines?(result: Result): Lines;
}
const PLAIN: ResultView = { document: (row) => rowDocument(row) };

/** An operation that is done. */
export interface Done<Subject> {
  result: Result;
  subject: Subject;
  change: Change;
}

/** Makes a verb of each operation. @param viewOf returns the view that shows the rows of results */
export function verbsOf<Subject>(
  operations: readonly Operation<Subject>[],
  viewOf: (service: Service) => ResultView = () => PLAIN,
): Readonly<Record<string, Verb>> {
  const verbs = operations.map((operation) => [verbOf(operation), verbFor(operation, viewOf)]);
  return Object.fromEntries(verbs);
}

/**
 * Makes a verb.
 * @param answerOf makes the answer to a done operation. Default: it shows the result.
 */
export function verbFor<Subject>(
  operation: Operation<Subject>,
  viewOf: (service: Service) => ResultView,
  answerOf?: (service: Service, done: Done<Subject>) => Promise<Answer>,
): Verb {
  const { role, summary, notes, twoPeople, about, fields, otp, check } = operation;
  const argument = operation.argument ?? about?.argument;
  return changes({
    role,
    summary,
    ...(notes !== undefined && { notes }),
    ...(twoPeople !== undefined && { twoPeople }),
    options: { ...about?.fields, ...fields, ...(otp && OTP) } as Fields,
    ...(argument !== undefined && { argument }),
    check: (values) => check?.(onlyOf(fields, values)),
    run: async (service, given, change) => {
      const values = await withPiped(operation, onlyOf(fields, given), change);
      const find = async () => (await about?.find(service, given)) as Subject;
      const subject = await find();
      const outcome = await perform(operation, {
        service,
        operator: change.operator,
        subject,
        find,
        values,
        reason: change.reason,
        otp: given.otp as string | undefined,
        time: moment,
      });
      if (outcome.asked) return { ...askedAnswer(outcome.asked, outcome), isRecorded: true };
      const { result, isRecorded } = outcome;
      const answer = answerOf
        ? await answerOf(service, { result, subject, change })
        : doneAnswer(result, viewOf(service));
      return { ...answer, isRecorded };
    },
  });
}

function onlyOf(fields: object, values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.keys(fields).map((name) => [name, values[name]]));
}

async function withPiped(
  { fields }: Operation,
  values: Record<string, unknown>,
  { stdin }: Change,
): Promise<Record<string, unknown>> {
  const piped = Object.keys(fields).find(
    (name) => fields[name]!.input === 'pipe' && values[name] !== undefined,
  );
  return piped === undefined ? values : { ...values, [piped]: await readPassword(stdin) };
}

function doneAnswer(result: Result, view: ResultView): Answer {
  const { title, row, facts, more, secret, notes = [] } = result;
  const shown = { ...(row && view.document(row)), ...(facts && rowDocument(facts)) };
  const data = {
    ...shown,
    ...(more && rowDocument(more)),
    ...(secret && { [secret.name]: secret.value }),
  };
  if (view.lines) return { data, lines: [title, view.lines(result)] };
  return {
    data,
    lines: [
      title,
      render(shown, view.empty),
      secret ? shownOnce(secret.what, secret.value) : null,
      [...notes],
    ],
  };
}

/** Says that a second person must decide, and how. */
function askedAnswer(
  { id, preview, ...request }: Approval,
  { why, secret }: Pick<Asked, 'why' | 'secret'>,
): Answer {
  const { action, subject, merchant_id, amount_cents, requested_by, requested_at } = request;
  const facts = rowDocument({
    approval: id,
    action,
    subject,
    merchant_id,
    amount_cents,
    requested_by,
    requested_at,
  });
  return {
    data: {
      ...facts,
      booked: false,
      why,
      ...(secret && { [secret.name]: secret.value }),
      preview: preview.split('\n'),
    },
    lines: [
      'A second person must approve this',
      render(facts),
      ...preview.split('\n').map((line) => `  ${line}`),
      why,
      secret ? shownOnce(secret.what, secret.value) : false,
      `To decide about it: approval approve ${id}, or approval reject ${id}`,
    ],
  };
}
