import { requireStillMember } from '../../domain/credentials/staff-session.ts';
import { OperatorRefusal } from '../../domain/errors.ts';
import { maskPhones } from '../../domain/text.ts';
import { VEILED } from '../../domain/veil.ts';
import { networkOf } from '../../http/caller.ts';
import { inputName } from '../../operations/field.ts';
import { type Operation, type Result, verbOf, versionOf } from '../../operations/operation.ts';
import { lookOf, type Operator, perform } from '../../operations/perform.ts';
import { type RouteWithRole, recordView } from '../access/audit.ts';
import { nameOfSession } from '../access/session.ts';
import { pathTo, type RouteName } from '../routes.ts';
import { type Answer, ConsoleError, type Handler, type Visit } from '../visit.ts';
import { type Given, Inputs, inputsOf, isComplete, type Paged, valuesIn } from './inputs.tsx';
import { nairobiTime } from './links.tsx';
import { givenReason, ReasonForm } from './reason-form.tsx';
import { shownOnce } from './shown-once.tsx';

/** The thing that the pages under an address are about. */
export interface Resource<Subject> {
  /** Reads the thing for a request. @throws ConsoleError if the thing does not exist */
  find(visit: Visit): Promise<Subject>;
  /** Writes into the audit log that the member sees the thing. */
  recordView?(visit: Visit, subject: Subject): Promise<void>;
  nameOf(subject: Subject): string;
  pathOf(subject: Subject): string;
}

/** The pages of operations, by the last part of their addresses. */
export type Pages<Subject> = Readonly<Record<string, Paged<Subject>>>;

/** Returns the pages of operations. Each operation has a page under its verb, and may have more. */
export function pagesOf<Subject>(operations: readonly Operation<Subject>[]): Pages<Subject> {
  const pages = operations.flatMap((operation) =>
    Object.entries({ [verbOf(operation)]: operation, ...operation.pages }).map(
      ([part, page]) => [part, { operation, page }] as const,
    ),
  );
  return Object.fromEntries(pages);
}

/** A route with a form, which is sent to the same path. */
type OperationRoute = {
  [Name in RouteWithRole]: `${Name}Form` extends RouteName ? Name : never;
}[RouteWithRole];

interface Place<Subject> {
  resource: Resource<Subject>;
  pages: Pages<Subject>;
  /**
   * The part of the address that names the page. Left out where the address belongs to one page.
   */
  part?: string;
  /**
   * True if the page of the thing asks for the fields. The operation's page then carries them on.
   */
  isAskedBefore?: boolean;
  /** Returns more inputs that the forms carry on, so that each form is about the same rows. */
  carried?(subject: Subject, visit: Visit): readonly (readonly [name: string, value: string])[];
  /**
   * Returns the address of the thing that the operation has made. Default: the resource's address.
   */
  madeAt?(result: Result, visit: Visit): string;
}

/** Returns the two handlers of a route: one shows what will happen, the other makes it happen. */
export function operationHandlers<Name extends OperationRoute, Subject>(
  route: Name,
  place: Place<Subject>,
): Record<Name | `${Name}Form`, Handler> {
  const { resource } = place;
  const form: Handler = async (visit) => {
    const paged = pageAt(place, visit);
    return show({ visit, route, place, paged, subject: await resource.find(visit) });
  };
  const done: Handler = async (visit) => {
    const paged = pageAt(place, visit);
    const subject = await resource.find(visit);
    try {
      return await carryOut(place, visit, paged, subject);
    } catch (refusal) {
      if (!(refusal instanceof OperatorRefusal)) throw refusal;
      return show({ visit, route, place, paged, subject, refusal });
    }
  };
  return { [`${route}Form`]: form, [route]: done } as Record<Name | `${Name}Form`, Handler>;
}

function pageAt<Subject>({ pages, part }: Place<Subject>, { params }: Visit): Paged<Subject> {
  const name = part ?? params.action ?? '';
  const paged = Object.hasOwn(pages, name) ? pages[name] : undefined;
  if (!paged) throw new ConsoleError(404, 'There is no such page');
  return paged;
}

async function carryOut<Subject>(
  { resource, madeAt }: Place<Subject>,
  visit: Visit,
  paged: Paged<Subject>,
  subject: Subject,
): Promise<Answer> {
  const { form } = visit;
  const { operation } = paged;
  const reason = givenReason(visit);
  const values = valuesIn(paged, subject, form);
  const version = form.version ?? '';
  const find = () => resource.find(visit);
  const order = { ...orderOf(visit, subject, reason), values, version, find };
  const outcome = await perform(operation, order);
  if (outcome.asked) return { goTo: pathTo('approval', { id: outcome.asked.id }) };
  const { result } = outcome;
  if (result.isDone === false) throw new OperatorRefusal(result.title);
  return answerOf(result, madeAt?.(result, visit) ?? resource.pathOf(subject));
}

/** Shows the secret of a result once, or goes on and says what was done. */
export function answerOf({ title, secret, notes = [] }: Result, back: string): Answer {
  const lines = notes.flatMap((note) => (note ? [`${note}.`] : []));
  if (!secret) return { goTo: back, done: VEILED.text([`${title}.`, ...lines].join(' ')) };
  const { what, value } = secret;
  return shownOnce({ title, what, secret: value, lines, back });
}

/** Returns the facts of a request that `perform` needs. */
export function orderOf<Subject>(visit: Visit, subject: Subject, reason = '') {
  const { service } = visit;
  return { service, operator: operatorOf(visit), subject, reason, time: nairobiTime };
}

function operatorOf({ member, session, ip, req }: Visit): Operator {
  const named = { ...session, name: nameOfSession(req) };
  return {
    actor: member.email,
    member,
    hasGivenOtp: session.with_totp,
    network: ip && networkOf(ip),
    authorize: (trx, role) => requireStillMember(trx, named, role),
  };
}

interface Shown<Subject> {
  visit: Visit;
  route: RouteName;
  place: Place<Subject>;
  paged: Paged<Subject>;
  subject: Subject;
  /** Why the form was refused. */
  refusal?: OperatorRefusal;
}

/** Shows a page of an operation: what will happen, the fields, and the question why. */
async function show<Subject>(shown: Shown<Subject>): Promise<Answer> {
  const { visit, route, place, paged, subject, refusal } = shown;
  const { resource } = place;
  const { title } = paged.page;
  await resource.recordView?.(visit, subject);
  const given = refusal ? visit.form : visit.query;
  await recordTrial(shown, given);
  const seen = await foresee(shown, given);
  const isPossible = !(seen instanceof OperatorRefusal);
  const preview = isPossible ? seen : null;
  const problem = isPossible ? (preview ? null : refusal) : seen;
  const back = resource.pathOf(subject);
  const page = (
    <>
      <h1>{title}</h1>
      <p>
        <a href={back}>{resource.nameOf(subject)}</a>
      </p>
      {paged.operation.asksFirst && !place.isAskedBefore && (
        <form
          class="card"
          method="get"
          data-asks-first
          action={pathTo(`${route}Form` as RouteName, visit.params)}
        >
          <Carried visit={visit} place={place} subject={subject} />
          <Inputs paged={paged} subject={subject} given={given} isAgain={refusal !== undefined} />
          <p class="buttons">
            <button type="submit" class="quiet">
              See what it would do
            </button>
            <a href={back}>Do nothing</a>
          </p>
        </form>
      )}
      {problem && <NotPossible why={problem.message} back={back} />}
      {preview && (await form(shown, given, preview))}
    </>
  );
  const isRefused = refusal !== undefined || !isPossible;
  return { page, title, status: isRefused ? 422 : 200, ...(refusal && { refusal }) };
}

/** Writes into the audit log what a member tries before doing it: the answer tells of what was named. */
async function recordTrial<Subject>(
  { visit, paged, place, subject }: Shown<Subject>,
  given: Given,
): Promise<void> {
  const { operation } = paged;
  if (!operation.asksFirst || !isComplete(paged, given)) return;
  const fields = inputsOf(paged).map(([key]) => [key, given[inputName(key)]] as const);
  await recordView(visit, {
    action: operation.name,
    merchant_id: null,
    subject: maskPhones(place.resource.nameOf(subject)),
    lookedFor: Object.fromEntries(fields.filter(([, text]) => text !== undefined && text !== '')),
    rows: null,
  });
}

/** What will happen, and why a second person must agree; null if nobody must. */
interface Foreseen {
  lines: readonly string[];
  why: string | null;
}

async function foresee<Subject>(
  { visit, paged, subject }: Shown<Subject>,
  given: Given,
): Promise<Foreseen | OperatorRefusal | null> {
  const { operation, page } = paged;
  try {
    const whyNot = page.whyNot?.(subject);
    if (whyNot) throw new OperatorRefusal(whyNot);
    const isRead = operation.asksFirst && isComplete(paged, given);
    const values = isRead ? valuesIn(paged, subject, given) : null;
    const look = lookOf(orderOf(visit, subject));
    const lines = await page.preview(look, values);
    const asked = values && (await operation.approval?.(look, values));
    return lines && { lines, why: asked?.why ?? null };
  } catch (error) {
    if (error instanceof OperatorRefusal) return error;
    throw error;
  }
}

async function form<Subject>(
  { visit, route, place, paged, subject, refusal }: Shown<Subject>,
  given: Given,
  { lines, why }: Foreseen,
) {
  const { resource } = place;
  const { operation, page } = paged;
  const { asksFirst, seen, twoPeople } = operation;
  const { database } = visit.service;
  return (
    <ReasonForm
      visit={visit}
      back={resource.pathOf(subject)}
      problem={refusal?.message}
      action={pathTo(route, visit.params)}
      verb={why === null ? (page.button ?? page.title) : 'Ask for approval'}
    >
      <WhatWillHappen lines={lines} />
      {why !== null && <p class="warning">{why}</p>}
      {twoPeople && !asksFirst && <p class="soft">A second person must agree: {twoPeople}.</p>}
      <Carried visit={visit} place={place} subject={subject} />
      {seen && <Hidden name="version" value={versionOf(await seen(database, subject, ''))} />}
      {asksFirst ? (
        inputsOf(paged).map(([key]) => (
          <Hidden name={inputName(key)} value={given[inputName(key)] ?? ''} />
        ))
      ) : (
        <Inputs paged={paged} subject={subject} given={given} isAgain={refusal !== undefined} />
      )}
    </ReasonForm>
  );
}

function Carried<Subject>(props: Pick<Shown<Subject>, 'visit' | 'place' | 'subject'>) {
  const { visit, place, subject } = props;
  return (place.carried?.(subject, visit) ?? []).map(([name, value]) => (
    <Hidden name={name} value={value} />
  ));
}

/** Lists what will happen. */
export function WhatWillHappen({ lines }: { lines: readonly string[] }) {
  return (
    <>
      <h2>What will happen</h2>
      <ul>
        {lines.map((line) => (
          <li>{line}</li>
        ))}
      </ul>
    </>
  );
}

/** Stands in place of a form that cannot be sent. */
export function NotPossible({ why, back }: { why: string; back: string }) {
  return (
    <section class="card">
      <h2>This is not possible</h2>
      <p>{why}. Nothing was changed.</p>
      <p>
        <a href={back}>Go back</a>
      </p>
    </section>
  );
}

function Hidden(props: { name: string; value: string }) {
  return <input type="hidden" {...props} />;
}

interface LinksProps<Subject> {
  route: RouteName;
  params: Readonly<Record<string, unknown>>;
  pages: Pages<Subject>;
  subject: Subject;
}

/** Links to the operations that are possible for a thing in its present state. */
export function OperationLinks<Subject>({ route, params, pages, subject }: LinksProps<Subject>) {
  return Object.entries(pages)
    .filter(([, { page }]) => (page.whyNot?.(subject) ?? null) === null)
    .map(([action, { page }]) => (
      <a class="button quiet" href={pathTo(route, { ...params, action })}>
        {page.title}
      </a>
    ));
}
