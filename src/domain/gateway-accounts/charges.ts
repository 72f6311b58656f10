import { v7 as uuidv7 } from 'uuid';
import {
  type Database,
  firstRow,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { MINUTE_MS } from '../../time.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import { OPERATOR, postNewJournal } from '../ledger/post-journal.ts';
import { PAYMENT_KINDS } from '../payments/payment-summary.ts';
import type { StatementRef } from '../reconciliation/statement.ts';

/*
 * A gateway charges the operator for payments. The dispatcher books the charges of the tariff some
 * time after the payments, so a payment has no statement more. A statement corrects them.
 */

/** The gateway's charges for one kind of payments. */
export interface Tariff {
  gateway: string;
  kind: GatewayPaymentKind;
  /** Cents, the smallest amounts first. The last charge also holds for larger amounts. */
  bands: { up_to_cents: number; charge_cents: number }[];
}

const ENTRY = /^([\w-]{1,32}) (\w+) (\S+)$/;
const BAND = /^(\d{1,9})(?:\.(\d\d))?=(\d{1,6})(?:\.(\d\d))?$/;

/**
 * Reads tariffs such as `NAME payout 1000=5.00,1500=7.50; NAME reversal 150000=0`.
 * @throws Error whose message follows the name of the setting
 */
export function tariffsFromText(text: string): Tariff[] {
  return text.split(';').map((entry) => {
    const [, gateway, kind, list] = ENTRY.exec(entry.trim()) ?? [];
    const known = PAYMENT_KINDS.find((each) => each === kind);
    const bands = list?.split(',').map((band) => {
      const [, upTo, upToCents = '00', charge, chargeCents = '00'] = BAND.exec(band) ?? [];
      return {
        up_to_cents: Number(`${upTo}${upToCents}`),
        charge_cents: Number(`${charge}${chargeCents}`),
      };
    });
    const isRead = bands?.every(
      ({ up_to_cents, charge_cents }, index) =>
        Number.isSafeInteger(charge_cents) && up_to_cents > (bands[index - 1]?.up_to_cents ?? 0),
    );
    if (gateway && known && bands && isRead) return { gateway, kind: known, bands };
    throw new Error(
      `must be a list such as NAME payout 1000=5.00,1500=7.50; NAME reversal 150000=0: up to an amount, the charge`,
    );
  });
}

/** A transaction that records a movement ends within this time. */
const LATE_MS = 10 * MINUTE_MS;
/** The first run books the charges of this time. Earlier ones are in the first balance. */
const FIRST_RUN_MS = 10 * MINUTE_MS;

/** Books the charges for what gateways have moved since the last run, each once. */
export async function bookCharges(database: Database, tariffs: readonly Tariff[]): Promise<void> {
  for (const { gateway, kind, bands } of tariffs) {
    await inTransaction(database, async (trx) => {
      const bindings = { gateway, kind, bands: JSON.stringify(bands) };
      await bookRun(trx, gateway, BOOK, { ...bindings, late_ms: LATE_MS, first_ms: FIRST_RUN_MS });
    });
  }
}

/** The charge up to the amount, or the last one. Support's word alone moves no money, and costs none. */
const BOOK = `
  INSERT INTO charges (merchant_id, movement_id, gateway, kind, learned_at, booked_cents)
  SELECT m.merchant_id, m.id, m.gateway, m.payment_kind, m.learned_at, coalesce(
    (SELECT charge_cents FROM jsonb_to_recordset(CAST(:bands AS jsonb))
       AS b (up_to_cents bigint, charge_cents bigint)
     ORDER BY up_to_cents < m.amount_cents,
       CASE WHEN up_to_cents < m.amount_cents THEN -up_to_cents ELSE up_to_cents END LIMIT 1), 0)
  FROM movements m
  WHERE m.gateway = :gateway AND m.payment_kind = :kind AND m.told_by <> 'support'
    AND m.learned_at >= coalesce(
      (SELECT max(learned_at) - :late_ms * interval '1 millisecond' FROM charges
       WHERE gateway = :gateway AND kind = :kind),
      now() - :first_ms * interval '1 millisecond')
  ON CONFLICT (merchant_id, movement_id) DO NOTHING
  RETURNING booked_cents AS cents`;

/**
 * Corrects the booked charges by those that an imported statement tells. A charge is told once.
 * A movement without a charge in the tariff gets it.
 */
export async function settleCharges(
  database: Database,
  { import_id, gateway }: StatementRef,
): Promise<void> {
  await inTransaction(database, (trx) => bookRun(trx, gateway, SETTLE, { import_id, gateway }));
}

const SETTLE = `
  INSERT INTO charges AS c (merchant_id, movement_id, gateway, kind, learned_at, booked_cents,
    told_cents)
  SELECT DISTINCT ON (m.merchant_id, m.id) m.merchant_id, m.id, m.gateway, m.payment_kind,
    m.learned_at, 0, l.charge_cents
  FROM statement_lines l JOIN movements m ON m.trans_id = l.trans_id AND m.gateway = :gateway
    AND m.amount_cents = l.amount_cents AND m.booked <> 'undone'
    AND (m.payment_kind = l.kind OR (l.kind = 'reversal' AND m.payment_kind = 'return'))
  WHERE l.import_id = :import_id AND l.charge_cents IS NOT NULL
    AND l.result IN ('matched', 'settled')
  ORDER BY m.merchant_id, m.id, l.line_no
  ON CONFLICT (merchant_id, movement_id) DO UPDATE SET told_cents = excluded.told_cents
    WHERE c.told_cents IS NULL
  RETURNING told_cents - booked_cents AS cents`;

/** Runs a statement that adds charges, and books their sum. */
async function bookRun(
  trx: Transaction,
  gateway: string,
  sql: string,
  bindings: object,
): Promise<void> {
  const sum = await firstRow<{ cents: number }>(
    trx,
    `WITH added AS (${sql}) SELECT CAST(coalesce(sum(cents), 0) AS bigint) AS cents FROM added`,
    bindings,
  );
  const { cents } = sum!;
  if (cents === 0) return;
  const id = uuidv7();
  await rows(trx, 'INSERT INTO charge_runs (id, gateway) VALUES (:id, :gateway)', { id, gateway });
  await postNewJournal(trx, {
    merchant_id: OPERATOR,
    source_kind: 'charge_run',
    source_id: id,
    kind: 'charged',
    lines: [
      { account: 'gateway_float', amount_cents: cents },
      { account: 'charges', amount_cents: -cents },
    ],
  });
}
