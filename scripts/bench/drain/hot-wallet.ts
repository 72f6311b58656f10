import { type Figure, throughputFigure } from '../figures.ts';
import type { LoadResult, Payee } from '../load/order.ts';
import type { ScenarioRun } from '../scenario.ts';

const PAYOUTS_COUNT = 2_000;
const CALLERS_COUNT = 32;
const ROUNDS_COUNT = 2;
const MAX_DURATION_MS = 20_000;
const WARM_UP_COUNT = 200;
/** Nothing is delivered: no worker runs. */
const CALLBACK_URL = 'http://127.0.0.1:9/webhooks';

export interface HotWallet {
  figures: Figure[];
  firstError: string | null;
}

/** Payouts of one merchant, whose wallet each of them debits, next to as many of 32 merchants. */
export async function measureHotWallet(
  run: ScenarioRun,
  scenario: string,
  payees: Payee[],
): Promise<HotWallet> {
  const cases = [
    { name: `payouts of ${payees.length} merchants × ${CALLERS_COUNT}`, payees },
    { name: `payouts of 1 merchant × ${CALLERS_COUNT}`, payees: payees.slice(0, 1) },
  ];
  const rounds: LoadResult[][] = cases.map(() => []);
  for (let round = 1; round <= ROUNDS_COUNT; round += 1) {
    for (const [index, one] of cases.entries()) {
      run.say(`round ${round} of ${ROUNDS_COUNT}: ${one.name}`);
      rounds[index]!.push(await accept(run, one.payees, `hot-${round}-${index}`));
    }
  }
  const [spread, hot] = cases.map(({ name }, index) =>
    throughputFigure(scenario, name, rounds[index]!),
  );
  return {
    figures: [spread!, { ...hot!, ratio: hot!.perSecond! / spread!.perSecond! }],
    firstError: rounds.flat().find(({ firstError }) => firstError !== null)?.firstError ?? null,
  };
}

/** A connection for each caller: they meet at the wallet, not before the pool. */
function accept({ stage }: ScenarioRun, payees: Payee[], tag: string): Promise<LoadResult> {
  return stage.generator.run({
    work: {
      ...{ kind: 'accept', databaseUrl: stage.config.databaseUrl, poolMax: CALLERS_COUNT },
      ...{ payees, tag, payments: ['payout'], callbackUrl: CALLBACK_URL },
    },
    concurrency: CALLERS_COUNT,
    warmUp: { count: WARM_UP_COUNT, durationMs: MAX_DURATION_MS },
    measured: { count: PAYOUTS_COUNT, durationMs: MAX_DURATION_MS },
  });
}
