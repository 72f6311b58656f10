import { MAX_REPLAYS_ALONE } from '../../domain/support/bulk-replay.ts';
import { STOP_AFTER_FAILED_AGAIN } from '../../domain/support/work-bulk-replays.ts';
import { pathTo } from '../routes.ts';
import { WhatWillHappen } from '../shell/action-page.tsx';
import { Choice } from '../shell/fields.tsx';
import { ReasonForm } from '../shell/reason-form.tsx';
import { VEILED } from '../shell/veil.ts';
import type { Visit } from '../visit.ts';
import { DEFAULT_RATE, MAX_COUNTED, type Plan } from './selection.ts';
import { countsOf, filterWords, isReplay, outcomeWords } from './words.ts';

const RATES = [1, 5, 10, 20, 50, 100].map((rate) => [String(rate), `${rate} per second`] as const);

/** Says what a replay will do, line by line. */
export function linesOf({ order, outcomes, count, hasMore, total }: Plan): string[] {
  const atLeast = total < MAX_COUNTED ? '' : 'At least ';
  const jobs = `${atLeast}${total} failed job${total === 1 ? '' : 's'}`;
  return [
    `${jobs}: ${VEILED.text(filterWords(order.filter))}.`,
    ...(hasMore ? [`Of the oldest ${count}:`] : []),
    ...countsOf(outcomes).map(({ outcome, count: each }) => `${each}: ${outcomeWords(outcome)}.`),
    `It replays ${order.rate} per second, the oldest first.`,
    `It stops when ${STOP_AFTER_FAILED_AGAIN} of them have failed again.`,
  ];
}

interface PlanFormProps {
  visit: Visit;
  plan: Plan;
  problem: string | undefined;
}

/** What a replay of many jobs will do, and the question why. */
export function PlanForm({ visit, plan, problem }: PlanFormProps) {
  const { order, outcomes, count, hasMore, needsSecond, carried } = plan;
  const back = pathTo('failedJobs');
  const isPossible = hasMore || countsOf(outcomes).some(({ outcome }) => isReplay(outcome));
  const title = <h1>Replay failed jobs</h1>;
  if (!isPossible) {
    return (
      <>
        {title}
        <section class="card">
          <h2>{count === 0 ? 'No job matches' : 'None of them can be replayed'}</h2>
          <ul>
            {linesOf(plan).map((line) => (
              <li>{line}</li>
            ))}
          </ul>
          <p>
            Nothing was changed. <a href={back}>Back to the failed jobs</a>
          </p>
        </section>
      </>
    );
  }
  return (
    <>
      {title}
      <ReasonForm
        {...{ visit, back, problem }}
        action={pathTo('beginBulkReplay')}
        verb={needsSecond ? 'Ask for approval' : 'Replay'}
      >
        <WhatWillHappen lines={linesOf(plan)} />
        <p class="soft">
          The next step of each is decided anew when its turn comes, so the counts may differ then.
        </p>
        {needsSecond && (
          <p class="warning">
            More than {MAX_REPLAYS_ALONE} jobs: somebody else must approve it. Nothing happens
            before.
          </p>
        )}
        {carried.map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        <Choice
          {...{ name: 'rate', label: 'Rate', choices: RATES }}
          value={String(order.rate || DEFAULT_RATE)}
        />
      </ReasonForm>
    </>
  );
}
