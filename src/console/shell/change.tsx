import type { ComponentChildren } from 'preact';
import type { Transaction } from '../../connections/database.ts';
import type { Audited } from '../../domain/audited-change.ts';
import { OperatorRefusal } from '../../domain/operator-refusal.ts';
import { auditedRow, isDifferent, type RowChange } from '../../domain/row-change.ts';
import { auditedBy, type RouteWithRole } from '../access/audited-by.ts';
import { pathTo } from '../routes.ts';
import type { Answer, Handler, Visit } from '../visit.ts';
import { ReasonForm } from './form.tsx';
import { givenReason } from './reason.ts';

/** The thing that a page is about, and that can be changed there. */
export interface Matter<Subject> {
  /** Reads it for a request. @throws ConsoleError when there is none */
  find(visit: Visit): Promise<Subject>;
  /** Writes into the audit log that the member sees it. */
  recordView(visit: Visit, subject: Subject): Promise<void>;
  nameOf(subject: Subject): string;
  pathOf(subject: Subject): string;
}

/** Who changes something, and why. */
export interface By {
  audited: Audited;
  reason: string;
}

/** Something that a member can do, with a page of its own that says first what will happen. */
export interface Change<Subject> {
  /** The route of its form, which is sent to the same path. */
  route: RouteWithRole;
  /** Noun and verb for the audit log, as the command line names them. */
  action: string;
  title: string;
  /** The words of the button. */
  verb: string;
  /** Says what will happen, and changes nothing. @throws OperatorRefusal when it is not possible */
  preview(visit: Visit, subject: Subject): Promise<string[]> | string[];
  /** The fields of its form, with what was given before. */
  fields?(
    subject: Subject,
    given: Readonly<Record<string, string>>,
    visit: Visit,
  ): Promise<ComponentChildren> | ComponentChildren;
  /**
   * Does it. @returns a page of its own, such as one with a secret
   * @throws OperatorRefusal when it is not possible
   */
  perform(visit: Visit, subject: Subject, by: By): Promise<Answer | null>;
}

/** Chooses the change that a request is about. @throws ConsoleError when there is none */
type Pick<Subject> = (visit: Visit) => Change<Subject>;

/** Shows the form of a change. */
export function formOf<Subject>(matter: Matter<Subject>, pick: Pick<Subject>): Handler {
  return async (visit) => show(visit, matter, await matter.find(visit), pick(visit));
}

/** Makes a change, and goes back to what it is about. */
export function performing<Subject>(matter: Matter<Subject>, pick: Pick<Subject>): Handler {
  return async (visit) => {
    const [subject, change] = [await matter.find(visit), pick(visit)];
    const { route, action } = change;
    try {
      const reason = givenReason(visit);
      const audited = auditedBy(visit, route, { action, reason });
      const answer = await change.perform(visit, subject, { audited, reason });
      return answer ?? { goTo: matter.pathOf(subject) };
    } catch (error) {
      if (!(error instanceof OperatorRefusal)) throw error;
      return show(visit, matter, subject, change, error);
    }
  };
}

/**
 * Changes a row, with its line in the audit log.
 * @param name is the row as its operator names it, such as `app 5001`
 * @throws OperatorRefusal when it is like that already
 */
export async function changeRow<Changed extends RowChange<unknown>>(
  { audited }: By,
  name: string,
  work: (trx: Transaction) => Promise<Changed>,
): Promise<Changed> {
  const change = await audited(async (trx) => auditedRow(name, await work(trx)));
  if (isDifferent(change)) return change;
  throw new OperatorRefusal(`The ${name} is like that already: nothing was changed`);
}

async function show<Subject>(
  visit: Visit,
  matter: Matter<Subject>,
  subject: Subject,
  { title, verb, route, preview, fields }: Change<Subject>,
  refusal?: OperatorRefusal,
): Promise<Answer> {
  await matter.recordView(visit, subject);
  const back = matter.pathOf(subject);
  const seen = await previewOf(() => preview(visit, subject));
  const inputs = 'problem' in seen ? null : await fields?.(subject, visit.form, visit);
  const page = (
    <>
      <h1>{title}</h1>
      <p>
        <a href={back}>{matter.nameOf(subject)}</a>
      </p>
      {'problem' in seen ? (
        <section class="card">
          <h2>This is not possible</h2>
          <p>{refusal?.message ?? seen.problem}.</p>
          <p>
            <a href={back}>Go back</a>
          </p>
        </section>
      ) : (
        <ReasonForm
          {...{ visit, back, verb, reason: visit.form.reason, problem: refusal?.message }}
          action={pathTo(route, visit.params)}
        >
          <h2>What will happen</h2>
          <ul>
            {seen.lines.map((line) => (
              <li>{line}</li>
            ))}
          </ul>
          {inputs}
        </ReasonForm>
      )}
    </>
  );
  const isRefused = refusal !== undefined || 'problem' in seen;
  return { page, title, status: isRefused ? 422 : 200, ...(refusal && { refusal }) };
}

async function previewOf(preview: () => Promise<string[]> | string[]) {
  try {
    return { lines: await preview() };
  } catch (error) {
    if (!(error instanceof OperatorRefusal)) throw error;
    return { problem: error.message };
  }
}
