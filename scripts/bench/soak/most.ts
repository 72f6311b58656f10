import { topUpPayoutWallet } from '../../../src/domain/wallets/operator-entries.ts';
import { BenchError } from '../bench-error.ts';
import { drainBacklog } from '../drain/drain-backlog.ts';
import { roundOf } from '../drain/outcomes.ts';
import { throughputFigure } from '../figures.ts';
import type { MixedPayment } from '../load/order.ts';
import { type BenchMerchant, createMerchants } from '../merchants.ts';
import type { ScenarioRun } from '../scenario.ts';
import { type ServiceProcesses, startReceiver } from '../service-processes.ts';

/** So many that no merchant's share of webhooks holds the others up. */
const MERCHANTS_COUNT = 8;
const TOP_UP_CENTS = 100_000_000_000;
const TAG = 'most';
const QUIET: readonly MixedPayment[] = [
  { kind: 'collection', ending: '678' },
  { kind: 'payout', ending: '678' },
];

/** Merchants with so much in their wallets that no payout is refused. */
export async function prepareMerchants({ stage }: ScenarioRun): Promise<BenchMerchant[]> {
  const { database, config } = stage;
  const names = Array.from({ length: MERCHANTS_COUNT }, (_, index) => `Duka${index + 1}`);
  const merchants = await createMerchants(database, config.secretsKeys, names);
  for (const { merchant_id } of merchants) {
    await topUpPayoutWallet(database, merchant_id, TOP_UP_CENTS, 'bench-opening');
  }
  return merchants;
}

/**
 * The most payments per second that go all the way, initiated over HTTP to webhook
 * delivered: a backlog of them, over the time until the last one is.
 * @throws BenchError when not all are delivered
 */
export async function measureMost(
  run: ScenarioRun,
  processes: ServiceProcesses,
  merchants: BenchMerchant[],
): Promise<number> {
  const { stage, options, say } = run;
  say(`measuring the most with ${options.paymentsCount} payments`);
  const receiver = await startReceiver(stage);
  const { outcomes, firstError } = await Promise.race([
    drainBacklog(run, processes, {
      count: options.paymentsCount,
      work: {
        ...{ kind: 'initiate', baseUrl: stage.baseUrl, merchants, tag: TAG, mix: QUIET },
        callbackUrl: receiver.url,
      },
    }),
    processes.crashed,
  ]);
  if (firstError !== null) throw new BenchError(`The most could not be measured: ${firstError}`);
  const round = roundOf(outcomes, 'acceptedMs', 'deliveredMs');
  return throughputFigure(TAG, TAG, [round]).perSecond!;
}
