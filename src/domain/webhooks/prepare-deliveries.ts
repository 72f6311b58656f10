import {
  type Database,
  FEW_ROWS,
  firstRow,
  hasRow,
  inTransaction,
  type Plan,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { lockUntilCommit } from '../../connections/locks.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { changeStep } from '../../jobs/outbox.ts';
import { IS_UNMARKED_DATABASE } from '../upkeep/other-database.ts';
import {
  admitDeliveries,
  FIRST_DUE_MS,
  RUNNING_SLOTS,
  WAITING_COUNT,
  type Walk,
} from './admit-deliveries.ts';
import { noticeExhausted } from './notices.ts';

/** The number of events that one round numbers. */
const NUMBERING_BATCH = 500;

/** The kinds of payments that have a settlement event, and the states that it reports. */
export const ENDING_KINDS = ['collection', 'payout', 'reversal'] as const;
export const END_STATES = ['completed', 'failed'] as const;

/** A payment that has ended, as its event reports it. */
export interface EndedPayment {
  kind: (typeof ENDING_KINDS)[number];
  merchant_id: number;
  state: (typeof END_STATES)[number];
  /** The time from its acceptance to the event. */
  seconds: number;
  channel: number;
  gateway: string;
  /** How the end was learned: 'callback', 'poll', 'submission', 'statement' or 'support'. Null: forgotten. */
  cause: string | null;
}

/** SQL: how many events have no number yet, or one more than few. Ordered, so that it reads the index. */
const UNNUMBERED_COUNT = `(SELECT count(*) FROM (
  SELECT FROM events WHERE sequence IS NULL ORDER BY created_at, id LIMIT ${FEW_ROWS + 1}) e)`;

/**
 * Numbers committed settlement events per merchant and plans their deliveries. Only the holder of
 * the lock `preparing deliveries` may do it, and only to committed events. So an event with a lower
 * number never appears after one with a higher number. Numbers nothing on a database that may have
 * forgotten numbers that it gave: `restore mark` skips them.
 * @param plan is 'kept' only where few events wait.
 * @returns the payments whose events have numbers now
 */
function numberEvents(trx: Transaction, plan: Plan): Promise<EndedPayment[]> {
  return rows<EndedPayment>(trx, NUMBER, { batch: NUMBERING_BATCH }, plan);
}

const NUMBER = `
  WITH waiting AS (
    SELECT merchant_id, id,
      row_number() OVER (PARTITION BY merchant_id ORDER BY created_at, id) AS place
    FROM (
      SELECT * FROM events WHERE sequence IS NULL AND NOT ${IS_UNMARKED_DATABASE}
      ORDER BY created_at, id LIMIT :batch
    ) e
  ), counted AS (
    INSERT INTO event_sequences AS s (merchant_id, last_sequence)
    SELECT merchant_id, count(*) FROM waiting GROUP BY merchant_id
    ON CONFLICT (merchant_id) DO UPDATE SET last_sequence = s.last_sequence + excluded.last_sequence
    RETURNING merchant_id, last_sequence
  ), numbered AS (
    UPDATE events e
    SET sequence = counted.last_sequence - totals.total + waiting.place
    FROM waiting
    JOIN counted ON counted.merchant_id = waiting.merchant_id
    JOIN (SELECT merchant_id, count(*) AS total FROM waiting GROUP BY merchant_id) totals
      ON totals.merchant_id = waiting.merchant_id
    WHERE e.merchant_id = waiting.merchant_id AND e.id = waiting.id
    RETURNING e.merchant_id, e.id, e.endpoint, e.payment_kind, e.payment_id, e.type, e.created_at
  ), planned AS (
    INSERT INTO webhook_deliveries
      (merchant_id, event_id, endpoint, created_at, next_step, next_step_at)
    SELECT merchant_id, id, endpoint, created_at, 'deliver', now() FROM numbered
  )
  SELECT payment_kind AS kind, numbered.merchant_id,
    CASE type WHEN 'transaction.completed' THEN 'completed' ELSE 'failed' END AS state,
    CAST(greatest(0, extract(epoch FROM numbered.created_at - accepted.created_at)) AS float8)
      AS seconds,
    accepted.channel, accepted.gateway, ended.cause
  FROM numbered
  -- LATERAL makes the planner look up each payment instead of reading the whole tables.
  LEFT JOIN LATERAL (${ENDING_KINDS.map(acceptedAt).join(' UNION ALL ')}
  ) accepted ON true
  LEFT JOIN LATERAL (
    -- The last move is the end. With the status as a condition, a plan of an empty table might
    -- read the index of all ends of the merchant.
    SELECT h.cause FROM payment_history h
    WHERE h.merchant_id = numbered.merchant_id AND h.payment_kind = numbered.payment_kind
      AND h.payment_id = numbered.payment_id
      -- Only the months of the payment's life are read.
      AND h.happened_at >= accepted.created_at
    ORDER BY h.happened_at DESC LIMIT 1
  ) ended ON true`;

function acceptedAt(kind: EndedPayment['kind']): string {
  return `
    SELECT created_at, channel, gateway FROM ${STEP_TABLES[kind].table} p WHERE numbered.payment_kind = '${kind}'
      AND p.merchant_id = numbered.merchant_id AND p.id = numbered.payment_id`;
}

/**
 * Numbers events, plans their deliveries, and admits those that are due and have room. One
 * dispatcher at a time does it.
 * @param slots are the slots of one worker. They count while no worker reports, so that jobs wait in
 * the queue, where operators look. 0 admits none.
 * @param onNumbered is called once for each event after the commit, unless the process dies.
 * @param walk is where the admission goes on. A dispatcher keeps it.
 * @returns how many events it numbered and deliveries it admitted
 */
export async function prepareDeliveries(
  database: Database,
  slots: number,
  onNumbered: (ended: EndedPayment) => void = () => {},
  walk: Walk = { after: null, inMs: null },
): Promise<number> {
  // Most rounds find nothing. They cost one read and no lock.
  const { unnumbered, waiting, firstDueMs, running } = (await firstRow<Found>(database, FIND))!;
  const hasDue = firstDueMs !== null && firstDueMs <= 0;
  walk.inMs = hasDue ? null : firstDueMs;
  if (unnumbered === 0 && (slots === 0 || !hasDue)) return 0;
  const plan = unnumbered + waiting > FEW_ROWS ? 'fresh' : 'kept';
  const number = async (trx: Transaction) => (unnumbered > 0 ? numberEvents(trx, plan) : []);
  try {
    const [numbered, admitted] = await underLock(database, async (trx) => [
      await number(trx),
      await admitDeliveries(trx, slots && (running ?? slots), walk, plan),
    ]);
    numbered.forEach(onNumbered);
    return numbered.length + admitted;
  } catch (error) {
    // Numbering goes on, whatever befalls the admission.
    (await underLock(database, number)).forEach(onNumbered);
    throw error;
  }
}

interface Found {
  unnumbered: number;
  waiting: number;
  firstDueMs: number | null;
  running: number | null;
}

const FIND = `SELECT ${UNNUMBERED_COUNT} AS unnumbered, ${WAITING_COUNT} AS waiting,
  ${FIRST_DUE_MS} AS "firstDueMs", ${RUNNING_SLOTS} AS running`;

function underLock<Result>(
  database: Database,
  work: (trx: Transaction) => Promise<Result>,
): Promise<Result> {
  return inTransaction(database, async (trx) => {
    await lockUntilCommit(trx, 'preparing deliveries');
    return work(trx);
  });
}

/** After this wait at an open breaker a delivery is given up. Twice the whole ladder. */
const LONGEST_WAIT_DAYS = 7;

/** The most deliveries that one round gives up. */
const BATCH_SIZE = 200;

interface Waiting {
  merchant_id: number;
  event_id: string;
  endpoint: string;
  step_no: number;
}

/**
 * Ends deliveries that have waited too long for their endpoint to come back. They spent no attempt
 * meanwhile, so the ladder would never end. Each stays listed, and can be sent again.
 * @returns how many it ended
 */
export async function giveUpWaiting(database: Database): Promise<number> {
  const waiting = await rows<Waiting>(
    database,
    `SELECT d.merchant_id, d.event_id, d.endpoint, d.step_no FROM webhook_deliveries d
     JOIN webhook_endpoints p USING (merchant_id, endpoint)
     WHERE d.next_step IS NOT NULL AND d.admitted_at IS NULL AND p.breaker = 'open'
       AND d.next_step_at < now() - :days * interval '1 day'
     ORDER BY d.next_step_at LIMIT :batch`,
    { days: LONGEST_WAIT_DAYS, batch: BATCH_SIZE },
  );
  let count = 0;
  for (const delivery of waiting) if (await giveUp(database, delivery)) count += 1;
  return count;
}

function giveUp(database: Database, delivery: Waiting): Promise<boolean> {
  const { merchant_id, event_id, step_no } = delivery;
  return inTransaction(database, async (trx) => {
    // It may have come back while others were given up.
    if (!(await isHeld(trx, delivery))) return false;
    const ref = { kind: 'webhook', merchant_id, id: event_id } as const;
    const isGivenUp = await changeStep(trx, ref, 'none', {
      set: { status: 'exhausted' },
      onlyIf: { step_no },
    });
    if (isGivenUp) await noticeExhausted(trx, delivery);
    return isGivenUp;
  });
}

function isHeld(trx: Transaction, { merchant_id, endpoint }: Waiting): Promise<boolean> {
  return hasRow(
    trx,
    `SELECT FROM webhook_endpoints
     WHERE merchant_id = :merchant_id AND endpoint = :endpoint AND breaker = 'open'`,
    { merchant_id, endpoint },
  );
}
