import { DISCREPANCY_KINDS } from '../../domain/discrepancies/discrepancy.ts';
import { OperatorRefusal } from '../../domain/operator-refusal.ts';
import { decideDiscrepancy, previewDecision } from '../../domain/support/decide-discrepancy.ts';
import type { DiscrepancyCase } from '../../domain/support/discrepancy-cases.ts';
import type { PaymentFile } from '../../domain/support/payment-file.ts';
import { DECIDED_BY_WORD } from '../../domain/support/resolution.ts';
import { RESOLUTION_WORDS } from '../../domain/support/resolution-words.ts';
import type { Decision } from '../../domain/support/resolve-discrepancy.ts';
import { ConsoleError } from '../console-error.ts';
import { pathTo } from '../routes.ts';
import type { Answer, Visit } from '../visit.ts';
import { type Action, formOf } from './action.tsx';
import { fileOf } from './query.ts';
import { recordPaymentView } from './seen.ts';
import { nameOf } from './words.ts';

const MAX_RECEIPT_LENGTH = 100;

/** Decides about a discrepancy. The preview makes the decision and undoes it. */
export const decide: Action = {
  ...{ route: 'paymentDecide', action: 'discrepancy.resolve' },
  ...{ title: 'Decide a discrepancy', verb: 'Decide', carried: ['as', 'trans_id'] },
  preview: async (visit, file) => {
    const { database, config, parserOf } = visit.service;
    const found = caseIn(visit, file);
    const decision = decisionIn(visit, found, 'Preview');
    const options = { ...config, parserOf };
    const { before, after, booked } = await previewDecision(database, found.id, decision, options);
    const moves =
      before.status === after.status
        ? `The payment stays ${after.status}.`
        : `The payment goes from ${before.status} to ${after.status}.`;
    return [
      `${RESOLUTION_WORDS[decision.as]} (${decision.as}).`,
      moves,
      ...booked.map(({ source, kind, entries }) => {
        const lines = entries.map(({ account, amount }) => `${account} ${amount}`);
        return `Booked: ${source} ${kind}: ${lines.join(', ')}.`;
      }),
      ...(booked.length === 0 ? ['Nothing is booked at once.'] : []),
    ];
  },
  perform: (visit, file, { audited, reason }) => {
    const { config, parserOf } = visit.service;
    const found = caseIn(visit, file);
    const decision = decisionIn(visit, found, reason);
    return decideDiscrepancy(audited, found.id, decision, { ...config, parserOf });
  },
};

/** Asks first which decision, and then shows what it does. */
export async function decideForm(visit: Visit): Promise<Answer> {
  if (visit.query.as) return formOf(decide)(visit);
  const file = await fileOf(visit);
  await recordPaymentView(visit, file);
  const page = <Choice visit={visit} file={file} found={caseIn(visit, file)} />;
  return { page, title: decide.title };
}

function Choice({
  visit,
  file,
  found,
}: {
  visit: Visit;
  file: PaymentFile;
  found: DiscrepancyCase;
}) {
  const { kind, allowed, resolution } = found;
  const [first] = allowed;
  return (
    <>
      <h1>{decide.title}</h1>
      <p>
        <a href={pathTo('payment', { ...file.payment })}>{nameOf(file.payment)}</a>:{' '}
        {DISCREPANCY_KINDS[kind]}
      </p>
      {allowed.length === 0 ? (
        <p class="card">It is decided already ({resolution}). Nothing is left to do.</p>
      ) : (
        <form class="card" method="get" action={pathTo('paymentDecideForm', visit.params)}>
          <fieldset>
            <legend>Your decision</legend>
            {allowed.map((as) => (
              <p>
                <label>
                  <input type="radio" name="as" value={as} required checked={as === first} />{' '}
                  {RESOLUTION_WORDS[as]} <span class="soft">({as})</span>
                </label>
              </p>
            ))}
          </fieldset>
          {allowed.includes('completed') && DECIDED_BY_WORD.has(kind) && (
            <p class="field">
              <label for="trans_id">Receipt, if it has completed and you know it</label>
              <input id="trans_id" name="trans_id" maxLength={MAX_RECEIPT_LENGTH} />
            </p>
          )}
          <p class="buttons">
            <button type="submit">See what will happen</button>
            <a href={pathTo('payment', { ...file.payment })}>Do nothing</a>
          </p>
        </form>
      )}
    </>
  );
}

/** Reads the decision from the address of the form, or from the form itself. */
function decisionIn(
  { query, form, member }: Visit,
  found: DiscrepancyCase,
  reason: string,
): Decision {
  const { as: wanted, trans_id } = form.as ? form : query;
  const as = found.allowed.find((allowed) => allowed === wanted);
  if (!as) throw new OperatorRefusal('This decision is not possible any more');
  if (trans_id && trans_id.length > MAX_RECEIPT_LENGTH) {
    throw new OperatorRefusal(`A receipt has at most ${MAX_RECEIPT_LENGTH} characters`);
  }
  const transId = as === 'completed' && trans_id ? trans_id : null;
  return { as, actor: member.email, reason, transId };
}

function caseIn({ params }: Visit, { discrepancies }: PaymentFile): DiscrepancyCase {
  const found = discrepancies.find(({ id }) => id === params.discrepancy);
  if (!found) throw new ConsoleError(404, 'This payment has no such discrepancy');
  return found;
}
