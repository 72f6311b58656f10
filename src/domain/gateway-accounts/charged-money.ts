/**
 * SQL: what gateways have moved, as they charge for it: the movements of payments, and money that was adopted after a
 * restore. An adoption that gave way to its payment counts as undone.
 */
export const CHARGED_MONEY = `(
    SELECT merchant_id, id, gateway, payment_kind, trans_id, amount_cents, learned_at, booked, told_by
    FROM movements
    UNION ALL
    SELECT merchant_id, id, gateway, kind, receipt, amount_cents, adopted_at,
      CASE WHEN taken_back_at IS NULL THEN 'settled' ELSE 'undone' END, 'adoption'
    FROM adoptions)`;
