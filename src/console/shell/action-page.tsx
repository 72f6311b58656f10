import { OperatorRefusal } from '../../domain/errors.ts';
import { pathTo, type RouteName } from '../routes.ts';
import type { Answer, Visit } from '../visit.ts';
import type { Action, Actions, Given, Preview, Resource } from './action.ts';
import { NotPossible, WhatWillHappen } from './operation.tsx';
import { ReasonForm } from './reason-form.tsx';

interface Shown<Subject> {
  visit: Visit;
  route: RouteName;
  resource: Resource<Subject>;
  action: Action<Subject>;
  subject: Subject;
  /** The fields of the address, or of the form that was refused. */
  given: Given;
  /** Why the form was refused. */
  refusal?: OperatorRefusal;
}

/** Shows an action: what will happen, and the question why. */
export async function showAction<Subject>(shown: Shown<Subject>): Promise<Answer> {
  const { visit, resource, action, subject, given, refusal } = shown;
  await resource.recordView?.(visit, subject);
  const seen = await previewOf(shown);
  const preview = seen instanceof OperatorRefusal ? null : seen;
  const problem = preview === null ? (seen ?? refusal ?? null) : null;
  const page = (
    <>
      <h1>{action.title}</h1>
      <p>
        <a href={resource.pathOf(subject)}>{resource.nameOf(subject)}</a>
      </p>
      {action.choices?.(subject, given)}
      {problem instanceof OperatorRefusal && (
        <NotPossible why={problem.message} back={resource.pathOf(subject)} />
      )}
      {preview && (await form(shown, preview))}
    </>
  );
  const isRefused = refusal !== undefined || problem !== null;
  return { page, title: action.title, status: isRefused ? 422 : 200, ...(refusal && { refusal }) };
}

async function previewOf<Subject>({ visit, action, subject, given }: Shown<Subject>) {
  try {
    const why = action.whyNot?.(subject);
    if (why) throw new OperatorRefusal(why);
    return await action.preview(visit, subject, given);
  } catch (error) {
    if (error instanceof OperatorRefusal) return error;
    throw error;
  }
}

async function form<Subject>(
  { visit, route, resource, action, subject, given, refusal }: Shown<Subject>,
  preview: Preview,
) {
  const { lines, secondPerson } =
    'lines' in preview ? preview : { lines: preview, secondPerson: null };
  return (
    <ReasonForm
      visit={visit}
      back={resource.pathOf(subject)}
      problem={refusal?.message}
      action={pathTo(route, visit.params)}
      verb={secondPerson === null ? action.verb : 'Ask for approval'}
    >
      <WhatWillHappen lines={lines} />
      {secondPerson !== null && <p class="warning">{secondPerson}</p>}
      {action.carried?.map((name) => (
        <input type="hidden" name={name} value={given[name] ?? ''} />
      ))}
      {await action.fields?.(subject, visit.form, visit)}
    </ReasonForm>
  );
}

interface ActionLinksProps<Subject> {
  route: RouteName;
  params: Readonly<Record<string, unknown>>;
  actions: Actions<Subject>;
  subject: Subject;
}

/** The links to the actions that make sense for a thing as it is. */
export function ActionLinks<Subject>(props: ActionLinksProps<Subject>) {
  const { route, params, actions, subject } = props;
  return Object.entries(actions)
    .filter(([, { whyNot }]) => (whyNot?.(subject) ?? null) === null)
    .map(([action, { title }]) => (
      <a class="button quiet" href={pathTo(route, { ...params, action })}>
        {title}
      </a>
    ));
}
