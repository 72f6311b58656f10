import type { ComponentChildren } from 'preact';
import type { Transaction } from '../../connections/database.ts';
import { type Audited, auditedRow, isDifferent, type RowChange } from '../../domain/audit/audit.ts';
import { OperatorRefusal } from '../../domain/errors.ts';
import { auditedBy, type RouteWithRole } from '../access/audit.ts';
import { ConsoleError } from '../console-error.ts';
import type { RouteName } from '../routes.ts';
import type { Answer, Handler, Visit } from '../visit.ts';
import { showAction } from './action-page.tsx';
import type { Resource } from './operation.tsx';
import { givenReason } from './reason-form.tsx';

export type { Resource } from './operation.tsx';

/** The fields that an address or a form gives. */
export type Given = Readonly<Record<string, string>>;

/** The effects, one line each. */
export type Preview =
  | readonly string[]
  | {
      lines: readonly string[];
      /** Why it waits for a second person; null when it does not. */
      secondPerson: string | null;
    };

/** The actor and the reason of a deed. */
export interface By {
  audited: Audited;
  reason: string;
}

/** Something that a member can do, with a page of its own that says first what will happen. */
export interface Action<Subject> {
  /** Noun and verb for the audit log, as the command line names them. */
  action: string;
  title: string;
  /** The words of the button. */
  verb: string;
  /** Says why there is nothing to do; null when there is. Then no page offers it. */
  whyNot?(subject: Subject): string | null;
  /**
   * Says what will happen, and changes nothing. @returns null as long as a choice is missing
   * @throws OperatorRefusal when it is not possible
   */
  preview(visit: Visit, subject: Subject, given: Given): Promise<Preview | null> | Preview | null;
  /** Fields that change what will happen. They are sent by themselves, to look at it again. */
  choices?(subject: Subject, given: Given): ComponentChildren;
  /** The choices and other fields of the address that the form carries on. */
  carried?: readonly string[];
  /** The other fields of its form, with what was typed before. */
  fields?(
    subject: Subject,
    typed: Given,
    visit: Visit,
  ): Promise<ComponentChildren> | ComponentChildren;
  /**
   * Does it. @returns where to go, or a page such as one with a secret. Without, it goes back
   * @throws OperatorRefusal when it is not possible any more, or was done already
   */
  perform(visit: Visit, subject: Subject, by: By): Promise<Answer | undefined>;
}

/** A route with a form, which is sent to the same path. */
type ActionRoute = {
  [Name in RouteWithRole]: `${Name}Form` extends RouteName ? Name : never;
}[RouteWithRole];

/**
 * Returns the two handlers of an action: the page that says what will happen, and what does it.
 * @param pick chooses the action that a request is about. It throws a ConsoleError without one
 */
export function actionHandlers<Name extends ActionRoute, Subject>(
  route: Name,
  resource: Resource<Subject>,
  pick: (visit: Visit) => Action<Subject>,
): Record<Name | `${Name}Form`, Handler> {
  const form: Handler = async (visit) => {
    const shown = { visit, route, resource, action: pick(visit) };
    return showAction({ ...shown, subject: await resource.find(visit), given: visit.query });
  };
  const done: Handler = async (visit) => {
    const action = pick(visit);
    const subject = await resource.find(visit);
    try {
      const reason = givenReason(visit);
      const audited = auditedBy(visit, route, { action: action.action, reason });
      const answer = await action.perform(visit, subject, { audited, reason });
      return answer ?? { goTo: resource.pathOf(subject) };
    } catch (refusal) {
      if (!(refusal instanceof OperatorRefusal)) throw refusal;
      return showAction({ visit, route, resource, action, subject, given: visit.form, refusal });
    }
  };
  return { [`${route}Form`]: form, [route]: done } as Record<Name | `${Name}Form`, Handler>;
}

/** The actions about a thing, by the last part of their addresses. */
export type Actions<Subject> = Readonly<Record<string, Action<Subject>>>;

/** Picks the action that the address names. */
export function namedIn<Subject>(actions: Actions<Subject>): (visit: Visit) => Action<Subject> {
  return ({ params: { action: name = '' } }) => {
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (!action) throw new ConsoleError(404, 'There is no such page');
    return action;
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
