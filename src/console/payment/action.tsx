import type { Audited } from '../../domain/audited-change.ts';
import { OperatorRefusal } from '../../domain/operator-refusal.ts';
import type { PaymentFile } from '../../domain/support/payment-file.ts';
import { auditedBy, type RouteWithRole } from '../access/audited-by.ts';
import { pathTo } from '../routes.ts';
import { MAX_REASON_LENGTH, ReasonForm } from '../shell/form.tsx';
import type { Answer, Handler, Visit } from '../visit.ts';
import { fileOf } from './query.ts';
import { recordPaymentView } from './seen.ts';
import { nameOf } from './words.ts';

/** Something that support can do about a payment. */
export interface Action {
  /** The route of its form, which is sent to the same path. */
  route: RouteWithRole;
  /** Noun and verb for the audit log, as the command line names them. */
  action: string;
  title: string;
  verb: string;
  /** Says what will happen, and changes nothing. @throws OperatorRefusal when it is not possible */
  preview(visit: Visit, file: PaymentFile): Promise<string[]>;
  /** Does it. @throws OperatorRefusal when it is not possible any more */
  perform(
    visit: Visit,
    file: PaymentFile,
    by: { audited: Audited; reason: string },
  ): Promise<unknown>;
  /** The fields that the form must carry on. */
  carried?: readonly string[];
}

/** Shows an action: what will happen, and the question why. */
export function formOf(action: Action): Handler {
  return async (visit) => {
    const file = await fileOf(visit);
    await recordPaymentView(visit, file);
    return show(visit, file, action, visit.query);
  };
}

/** Does an action, and goes back to the payment. */
export function performing(action: Action): Handler {
  return async (visit) => {
    const file = await fileOf(visit);
    await recordPaymentView(visit, file);
    try {
      const reason = givenReason(visit);
      const audited = auditedBy(visit, action.route, { action: action.action, reason });
      await action.perform(visit, file, { audited, reason });
      return { goTo: pathTo('payment', { ...file.payment }) };
    } catch (error) {
      if (!(error instanceof OperatorRefusal)) throw error;
      return show(visit, file, action, visit.form, error);
    }
  };
}

function givenReason({ form: { reason = '' } }: Visit): string {
  if (reason === '') throw new OperatorRefusal('Give a reason');
  if (reason.length <= MAX_REASON_LENGTH) return reason;
  throw new OperatorRefusal(`A reason has at most ${MAX_REASON_LENGTH} characters`);
}

async function show(
  visit: Visit,
  file: PaymentFile,
  action: Action,
  given: Readonly<Record<string, string>>,
  refusal?: OperatorRefusal,
): Promise<Answer> {
  const { title, verb, route, carried = [] } = action;
  const back = pathTo('payment', { ...file.payment });
  const preview = await previewOf(visit, file, action);
  const page = (
    <>
      <h1>{title}</h1>
      <p>
        <a href={back}>{nameOf(file.payment)}</a>
      </p>
      {'problem' in preview ? (
        <section class="card">
          <h2>This is not possible</h2>
          <p>{preview.problem}. Nothing was changed.</p>
          <p>
            <a href={back}>Back to the payment</a>
          </p>
        </section>
      ) : (
        <ReasonForm
          {...{ visit, back, verb, reason: visit.form.reason, problem: refusal?.message }}
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
  const isRefused = refusal !== undefined || 'problem' in preview;
  return { page, title, status: isRefused ? 422 : 200, ...(refusal && { refusal }) };
}

async function previewOf(visit: Visit, file: PaymentFile, { preview }: Action) {
  try {
    return { lines: await preview(visit, file) };
  } catch (error) {
    if (!(error instanceof OperatorRefusal)) throw error;
    return { problem: error.message };
  }
}
