import { OperatorRefusal } from '../../domain/operator-refusal.ts';
import { factsOf } from '../../domain/support/decide-as-asked.ts';
import { pathTo } from '../routes.ts';
import { ReasonForm } from '../shell/form.tsx';
import { givenReason } from '../shell/reason.ts';
import { Version } from '../shell/version.tsx';
import type { Answer, Visit } from '../visit.ts';
import { carryOut, decisionIn, type Preview, previewOf, secondPersonWords } from './decision.ts';
import { Discrepancy } from './file-view.tsx';
import { type DiscrepancyFile, readDiscrepancies, readDiscrepancy } from './query.ts';
import { Discrepancies } from './view.tsx';

/** What does not add up, and the decisions about it. */
export const discrepancyHandlers = {
  discrepancies: async (visit: Visit): Promise<Answer> => {
    const page = await readDiscrepancies(visit);
    return { page: <Discrepancies visit={visit} page={page} />, title: 'Discrepancies' };
  },

  discrepancy: async (visit: Visit): Promise<Answer> => {
    const file = await readDiscrepancy(visit);
    return { page: <Discrepancy visit={visit} file={file} />, title: titleOf(file) };
  },

  decideDiscrepancyForm: async (visit: Visit): Promise<Answer> =>
    form(visit, await readDiscrepancy(visit), visit.query),

  decideDiscrepancy: async (visit: Visit): Promise<Answer> => {
    const file = await readDiscrepancy(visit);
    try {
      const reason = givenReason(visit);
      const decision = decisionIn(visit.form, visit, file.found, reason);
      return { goTo: await carryOut(visit, file.found, decision) };
    } catch (error) {
      if (!(error instanceof OperatorRefusal)) throw error;
      return form(visit, file, visit.form, error);
    }
  },
};

function titleOf({ found }: DiscrepancyFile): string {
  return `Discrepancy: ${found.kind}`;
}

/** Shows what a decision will do, and asks why. */
async function form(
  visit: Visit,
  file: DiscrepancyFile,
  given: Readonly<Record<string, string>>,
  refusal?: OperatorRefusal,
): Promise<Answer> {
  const { id } = file.found;
  const back = pathTo('discrepancy', { id });
  const preview = await previewOrProblem(visit, file, given);
  const page =
    'problem' in preview ? (
      <section class="card">
        <h1>This is not possible</h1>
        <p>{preview.problem}. Nothing was changed.</p>
        <p>
          <a href={back}>Back to the discrepancy</a>
        </p>
      </section>
    ) : (
      <DecisionForm {...{ visit, back, preview, given, problem: refusal?.message }} />
    );
  const isRefused = refusal !== undefined || 'problem' in preview;
  return {
    ...{ page, title: 'Decide a discrepancy', status: isRefused ? 422 : 200 },
    ...(refusal && { refusal }),
  };
}

async function previewOrProblem(
  visit: Visit,
  { found }: DiscrepancyFile,
  given: Readonly<Record<string, string>>,
): Promise<Preview | { problem: string }> {
  try {
    return await previewOf(visit, found, decisionIn(given, visit, found, 'Preview'));
  } catch (error) {
    if (!(error instanceof OperatorRefusal)) throw error;
    return { problem: error.message };
  }
}

interface DecisionFormProps {
  visit: Visit;
  back: string;
  preview: Preview;
  given: Readonly<Record<string, string>>;
  problem: string | undefined;
}

function DecisionForm({ visit, back, preview, given, problem }: DecisionFormProps) {
  const { staffApprovalLimit } = visit.service.config;
  const { lines, needsSecond, before } = preview;
  return (
    <>
      <h1>Decide a discrepancy</h1>
      <ReasonForm
        {...{ visit, back, problem, reason: visit.form.reason }}
        action={pathTo('decideDiscrepancy', { id: before.id })}
        verb={needsSecond ? 'Ask for approval' : 'Decide'}
      >
        <h2>What will happen</h2>
        <ul>
          {lines.map((line) => (
            <li>{line}</li>
          ))}
        </ul>
        {needsSecond && <p class="warning">{secondPersonWords(preview, staffApprovalLimit)}</p>}
        <Version of={factsOf(before)} />
        <input type="hidden" name="as" value={given.as} />
        <input type="hidden" name="trans_id" value={given.trans_id ?? ''} />
      </ReasonForm>
    </>
  );
}
