/** SQL: the account of an entry of a move. The first line of its journal is where it came from. */
const OF_MOVE = `SELECT split_part(own.account, '/', 1), split_part(own.account, '/', 2)
      FROM own_moves s CROSS JOIN LATERAL (
        SELECT CASE e.line WHEN 1 THEN s.from_account ELSE s.to_account END AS account) own
      WHERE j.source_kind = 'own_move' AND s.id = j.source_id`;

/** SQL: the account of the charges of a gateway. */
const OF_CHARGES = `SELECT s.gateway, 'charges' FROM charge_runs s
      WHERE j.source_kind = 'charge_run' AND s.id = j.source_id`;

/** SQL: the account of money that was adopted. Other adjustments do not touch the float. */
const OF_ADOPTION = `SELECT s.gateway, 'utility' FROM adoptions s
      WHERE j.source_kind = 'adjustment' AND s.merchant_id = j.merchant_id AND s.id = j.source_id`;

/** SQL: the tables that the journals of the float are about. Each names its gateway. */
const SOURCES = ['collection', 'payout', 'reversal', 'movement'].map(
  (kind) => `SELECT gateway, 'utility' AS sub_account FROM ${kind}s s
      WHERE j.source_kind = '${kind}' AND s.merchant_id = j.merchant_id AND s.id = j.source_id`,
);

/**
 * Returns SQL: the entries of the float, and of the bank, since a moment, of all merchants, because the operator's
 * accounts hold the money of all. Each has `gateway`, `sub_account`, `booked_at`, and in `cents`
 * what came to the account: a merchant's gain is a float's loss.
 * @param since is SQL for the moment
 */
export function floatEntries(since: string): string {
  return `SELECT source.gateway, source.sub_account, -e.amount_cents AS cents,
      e.created_at AS booked_at
    FROM entries e
    JOIN journals j ON j.merchant_id = e.merchant_id AND j.id = e.journal_id
    CROSS JOIN LATERAL (${[...SOURCES, OF_MOVE, OF_CHARGES, OF_ADOPTION].join(' UNION ALL ')}) source
    WHERE e.account = 'gateway_float' AND e.created_at >= ${since}
    UNION ALL SELECT 'bank', 'bank', -amount_cents, created_at FROM entries
    WHERE account = 'bank' AND created_at >= ${since}`;
}
