import type { ComponentChildren } from 'preact';
import { OperatorRefusal } from '../../domain/errors.ts';
import { DEFAULT_ZONE } from '../../domain/period.ts';
import { UsageError } from '../../operations/field.ts';
import * as read from '../../operations/readers.ts';
import { mayUse, pathTo, type RouteName } from '../routes.ts';
import type { OpenVisit, Visit } from '../visit.ts';
import { Field, FormProblem, Token } from './fields.tsx';

interface ReasonFormProps {
  visit: OpenVisit;
  action: string;
  /** The words of the button: a verb and its object. */
  verb: string;
  problem?: string | undefined;
  /** The address of the way back, without the deed. */
  back: string;
  /** The form has a file. */
  hasFile?: boolean;
  /** More fields, and what will happen. */
  children?: ComponentChildren;
}

/** A form that changes something: it says why, because the audit log keeps it. */
export function ReasonForm(props: ReasonFormProps) {
  const { visit, action, verb, problem, back, hasFile, children } = props;
  return (
    <form
      class="card"
      method="post"
      action={action}
      enctype={hasFile ? 'multipart/form-data' : undefined}
    >
      <Token visit={visit} />
      <FormProblem words={problem} />
      {children}
      <Field
        name="reason"
        label="Reason"
        value={visit.form.reason}
        hint="The audit log keeps it, with your name"
        maxLength={read.MAX_REASON_LENGTH}
        autocomplete="off"
      />
      <p class="buttons">
        <button type="submit">{verb}</button>
        <a href={back}>Do nothing</a>
      </p>
    </form>
  );
}

/** Asks for a one-time password that was not used before, for this deed alone. */
export function OtpField({ isRequired, hint }: { isRequired: boolean; hint: string }) {
  return (
    <Field
      name="otp"
      label="One-time password"
      required={isRequired}
      hint={`${hint}. One that you have not used yet: they change every half minute`}
      inputmode="numeric"
      autocomplete="one-time-code"
      maxLength={6}
    />
  );
}

/** Reads the reason of such a form. @throws OperatorRefusal without a good one */
export function givenReason({ form: { reason = '' } }: Pick<OpenVisit, 'form'>): string {
  if (reason === '') throw new OperatorRefusal('Give a reason');
  try {
    return read.reason.read(reason, DEFAULT_ZONE);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new OperatorRefusal(`The reason ${error.message}`);
  }
}

/** The button that reveals personal data once. Renders nothing if the role may not reveal. */
export function RevealForm({ visit, route }: { visit: Visit; route: RouteName }) {
  if (!mayUse(visit.member.role, route)) return null;
  return (
    <form method="post" action={pathTo(route, visit.params)}>
      <Token visit={visit} />
      <p class="buttons">
        <button type="submit" class="quiet">
          Reveal personal data
        </button>
        <span class="hint">The audit log keeps that you did</span>
      </p>
    </form>
  );
}
