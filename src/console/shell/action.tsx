import type { VNode } from 'preact';
import type { Audited } from '../../domain/audited-change.ts';
import { OperatorRefusal } from '../../domain/operator-refusal.ts';
import { auditedBy, type RouteWithRole } from '../access/audited-by.ts';
import { pathTo } from '../routes.ts';
import type { Answer, Handler, Visit } from '../visit.ts';
import { ReasonForm } from './form.tsx';
import { givenReason } from './reason.ts';

/** The fields that the address or the form gives. */
export type Given = Readonly<Record<string, string>>;

/** Something that a member can do about a thing, with a page of its own that says first what will happen. */
export interface ThingAction<Thing> {
  /** The route of its form, which is sent to the same path. */
  route: RouteWithRole;
  /** Noun and verb for the audit log, as the command line names them. */
  action: string;
  title: string;
  verb: string;
  /** Finds what the address names. @throws ConsoleError without one */
  find(visit: Visit): Promise<Thing>;
  /** The page of the thing. */
  back(thing: Thing): { path: string; words: string };
  /** Says what will happen, and changes nothing. @throws OperatorRefusal when it is not possible */
  preview(visit: Visit, thing: Thing, given: Given): Promise<string[]>;
  /** Does it. @throws OperatorRefusal when it is not possible any more, or was done already */
  perform(visit: Visit, thing: Thing, audited: Audited, reason: string): Promise<unknown>;
  /** The fields that the form must carry on. */
  carried?: readonly string[];
  /** Fields that change what will happen. They are sent by themselves, to look at it again. */
  choices?(thing: Thing, given: Given): VNode;
}

/** Shows an action: what will happen, and the question why. */
export function actionForm<Thing>(action: ThingAction<Thing>): Handler {
  return async (visit) => show(visit, await action.find(visit), action, visit.query);
}

/** Does an action, and goes back to the page of the thing. */
export function actionDone<Thing>(action: ThingAction<Thing>): Handler {
  return async (visit) => {
    const thing = await action.find(visit);
    try {
      const reason = givenReason(visit);
      const audited = auditedBy(visit, action.route, { action: action.action, reason });
      await action.perform(visit, thing, audited, reason);
      return { goTo: action.back(thing).path };
    } catch (error) {
      if (!(error instanceof OperatorRefusal)) throw error;
      return show(visit, thing, action, visit.form, error);
    }
  };
}

async function show<Thing>(
  visit: Visit,
  thing: Thing,
  action: ThingAction<Thing>,
  given: Given,
  refusal?: OperatorRefusal,
): Promise<Answer> {
  const { title, verb, route, carried = [], choices } = action;
  const back = action.back(thing);
  const preview = await previewOf(visit, thing, action, given);
  const problem = 'problem' in preview ? preview.problem : null;
  const page = (
    <>
      <h1>{title}</h1>
      <p>
        <a href={back.path}>{back.words}</a>
      </p>
      {choices?.(thing, given)}
      {'problem' in preview ? (
        <section class="card">
          <h2>This is not possible</h2>
          <p>{preview.problem}. Nothing was changed.</p>
        </section>
      ) : (
        <ReasonForm
          {...{ visit, verb, back: back.path, reason: visit.form.reason }}
          problem={refusal?.message}
          action={pathTo(route, visit.params)}
        >
          <h2>What will happen</h2>
          <ul>
            {preview.lines.map((line) => (
              <li>{line}</li>
            ))}
          </ul>
          {carried.map((name) => (
            <input type="hidden" name={name} value={given[name] ?? ''} />
          ))}
        </ReasonForm>
      )}
    </>
  );
  const isRefused = refusal !== undefined || problem !== null;
  return { page, title, status: isRefused ? 422 : 200, ...(refusal && { refusal }) };
}

async function previewOf<Thing>(
  visit: Visit,
  thing: Thing,
  { preview }: ThingAction<Thing>,
  given: Given,
): Promise<{ lines: string[] } | { problem: string }> {
  try {
    return { lines: await preview(visit, thing, given) };
  } catch (error) {
    if (!(error instanceof OperatorRefusal)) throw error;
    return { problem: error.message };
  }
}
