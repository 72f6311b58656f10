import { setTimeout as sleep } from 'node:timers/promises';
import { MERCHANTS_COUNT, type Outcome, startReceiver } from './backlog.ts';
import { type Kind, natureOf } from './day-shape.ts';
import { type BenchMerchant, createMerchants, paymentAt } from './payments.ts';
import { say } from './report.ts';
import { initiate } from './soak.ts';
import type { Stage } from './stage.ts';

/** A payment of the day, by its reference. */
export interface Paid extends Outcome {
  kind: Kind;
  merchant: BenchMerchant;
  isReversed?: true;
}

const PAYMENTS_PER_LINE_COUNT = 1_000;

/**
 * Has the payments of a day accepted, each when it comes. Fills what becomes of them into `paid`.
 * @param first is the number of the first one
 */
export async function playPayments(
  stage: Stage,
  arrivals: readonly number[],
  paid: Map<string, Paid>,
  first = 0,
): Promise<void> {
  const merchants = await createMerchants(stage, MERCHANTS_COUNT);
  const callback_url = await startReceiver(stage, paid);
  const startedAt = performance.now();
  const running: Promise<void>[] = [];
  for (const [index, atMs] of arrivals.entries()) {
    const waitMs = startedAt + atMs - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    running.push(play(stage, first + index, { merchants, callback_url, paid }));
    const come = index + 1;
    if (come % PAYMENTS_PER_LINE_COUNT === 0) say(`${come} payments have come`);
  }
  await Promise.all(running);
}

interface Shop {
  merchants: BenchMerchant[];
  callback_url: string;
  paid: Map<string, Paid>;
}

async function play(stage: Stage, index: number, shop: Shop): Promise<void> {
  const { kind: wanted, ending } = natureOf(stage.options.seed, index);
  const original = wanted === 'reversal' ? takeOriginal(shop.paid) : null;
  const kind = wanted === 'reversal' && !original ? 'collection' : wanted;
  const payment = paymentAt(index, {
    tag: kind,
    ...shop,
    endings: [ending],
    kinds: [kind === 'payout' ? 'payout' : 'collection'],
  });
  const merchant = original?.merchant ?? shop.merchants[index % shop.merchants.length]!;
  const outcome: Paid = { kind, merchant, isDeclined: false, ids: new Set() };
  shop.paid.set(payment.ref_no, outcome);
  try {
    if (original) await reverse(stage, original, payment);
    else await initiate(stage, payment);
    outcome.acceptedMs = Date.now();
  } catch (error) {
    stage.findings.problems.push(`${payment.ref_no} was not accepted: ${(error as Error).message}`);
  }
}

interface Original {
  refNo: string;
  merchant: BenchMerchant;
}

/** Chooses a completed collection that nobody gives back yet. */
function takeOriginal(paid: Map<string, Paid>): Original | null {
  for (const [refNo, one] of paid) {
    if (one.kind !== 'collection' || one.isReversed) continue;
    if (one.event !== 'transaction.completed') continue;
    one.isReversed = true;
    return { refNo, merchant: one.merchant };
  }
  return null;
}

/** Answers 502 when the gateway has not acknowledged it in time. It is accepted nevertheless. */
const ACCEPTED = [200, 502];

async function reverse(
  { baseUrl }: Stage,
  { refNo: checkout_ref_no, merchant }: Original,
  { ref_no, callback_url }: { ref_no: string; callback_url: string },
): Promise<void> {
  const answer = await fetch(`${baseUrl}/reversals/initiate`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${merchant.access}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ checkout_ref_no, ref_no, callback_url }),
  });
  const body = await answer.text();
  if (!ACCEPTED.includes(answer.status)) throw new Error(`${answer.status} ${body}`);
}
