/**
 * Two years of two merchants, one statement after the other. `:name` stands for a number of
 * the seed. Rows go in by time, as they would have come.
 */
export const SEED_STATEMENTS: readonly (readonly [what: string, sql: string])[] = [
  [
    'collections',
    `INSERT INTO collections (merchant_id, id, app_code, channel, gateway, payfrom, amount_cents,
       commission_cents, ref_no, account_number, callback_url, status, result_code,
       result_description, trans_id, payment_completed_at, deadline_at, created_at,
       next_step, next_step_at, step_no, parked_reason)
     SELECT merchant_id, uuidv7(created_at - now()), app_code, 63902, 'simulator',
       '+25471' || lpad((phone_index * 7919 % 10000000)::text, 7, '0'),
       amount_cents, round(amount_cents * 0.015)::bigint, 'order-' || i,
       'INV-' || i % 5000, 'https://shop.example/webhooks', status,
       CASE status WHEN 'completed' THEN 0 WHEN 'failed' THEN 1032 END,
       CASE status WHEN 'completed' THEN 'The service request is processed successfully.'
         WHEN 'failed' THEN 'Request cancelled by user.' END,
       CASE status WHEN 'completed' THEN upper(substr(md5(i::text), 1, 10)) END,
       CASE status WHEN 'completed' THEN created_at + interval '9 seconds' END,
       created_at + interval '10 minutes', created_at,
       CASE WHEN is_new THEN 'submit' END, CASE WHEN is_new THEN created_at END, 1,
       CASE WHEN is_parked THEN 'the gateway stayed silent' END
     FROM (
       SELECT *, CASE
           WHEN is_new THEN CASE i % 2 WHEN 0 THEN 'pending' ELSE 'processing' END
           WHEN is_parked THEN 'processing'
           WHEN luck < 0.83 THEN 'completed' ELSE 'failed' END AS status
       FROM (
         SELECT i, random() AS luck,
           CASE i % 11 WHEN 0 THEN :other_id ELSE :main_id END AS merchant_id,
           CASE i % 11 WHEN 0 THEN :other_app ELSE :main_app END AS app_code,
           now() - interval '730 days' * (1 - i / :total::float8) AS created_at,
           -- Some payers come often, most do not.
           floor(:phones * random() ^ 2)::bigint AS phone_index,
           (50 + floor(20000 * random() ^ 3))::bigint * 100 AS amount_cents,
           -- In a healthy service only the newest are open, and a few wait for a person.
           i > :total - 30 AS is_new, i % 20011 = 0 AND i <= :total - 30 AS is_parked
         FROM generate_series(1, :total) AS i
       ) drawn
     ) decided
     ORDER BY i`,
  ],
  [
    'transfers',
    `INSERT INTO transfers (merchant_id, id, amount_cents, ref_no, created_at)
     SELECT merchant_id, uuidv7(at - now()), 500000, 'sweep-' || substr(ref_no, 7), at
     FROM (
       SELECT merchant_id, ref_no, payment_completed_at + interval '1 minute' AS at
       FROM collections
       WHERE status = 'completed' AND substr(ref_no, 7)::bigint % 500 = 0
     ) swept
     ORDER BY at`,
  ],
  [
    'what is to be booked',
    `CREATE TEMP TABLE bookings AS
     SELECT *, uuidv7(at - now()) AS journal_id FROM (
       SELECT merchant_id, 'collection' AS source_kind, id AS source_id, 'completed' AS kind,
         payment_completed_at AS at, amount_cents, commission_cents, ref_no,
         payfrom AS counterparty, 'Collection, net of commission' AS description
       FROM collections WHERE status = 'completed'
       UNION ALL
       SELECT merchant_id, 'transfer', id, 'transfer', created_at, amount_cents, 0, ref_no, NULL,
         'Transfer between the wallets'
       FROM transfers
       UNION ALL
       SELECT merchant_id, 'topup', gen_random_uuid(), 'topup', created_at + interval '1 second',
         10000000, 0, 'bank-' || substr(ref_no, 7), NULL, 'Top-up'
       FROM collections WHERE substr(ref_no, 7)::bigint % 5000 = 0
     ) booked`,
  ],
  [
    'journals',
    `INSERT INTO journals (merchant_id, id, source_kind, source_id, kind, created_at)
     SELECT merchant_id, journal_id, source_kind, source_id, kind, at FROM bookings ORDER BY at`,
  ],
  [
    'entries',
    `INSERT INTO entries (merchant_id, journal_id, line, account, amount_cents, entry_no,
       balance_after_cents, transaction_id, type, ref_no, counterparty, description, created_at)
     SELECT merchant_id, journal_id, line, account, cents,
       CASE WHEN is_wallet THEN no END, CASE WHEN is_wallet THEN balance END,
       CASE WHEN is_wallet THEN uuidv7(at - now()) END, CASE WHEN is_wallet THEN source_kind END,
       CASE WHEN is_wallet THEN ref_no END, CASE WHEN is_wallet THEN counterparty END,
       CASE WHEN is_wallet THEN description END, at
     FROM (
       SELECT *, account LIKE 'wallet:%' AS is_wallet, row_number() OVER chain AS no,
         (sum(cents) OVER (chain ROWS UNBOUNDED PRECEDING))::bigint AS balance
       FROM (
         SELECT b.*, line, account,
           gross * amount_cents + commission * commission_cents AS cents
         FROM bookings b JOIN (VALUES
           ('collection', 1::smallint, 'gateway_float', -1, 0),
           ('collection', 2, 'commission', 0, 1),
           ('collection', 3, 'wallet:collection', 1, -1),
           ('transfer', 1, 'wallet:collection', -1, 0),
           ('transfer', 2, 'wallet:payout', 1, 0),
           ('topup', 1, 'bank', -1, 0),
           ('topup', 2, 'wallet:payout', 1, 0)
         ) AS template (source_kind, line, account, gross, commission) USING (source_kind)
       ) lines
       WINDOW chain AS (PARTITION BY merchant_id, account ORDER BY at, journal_id)
     ) chained
     ORDER BY at, journal_id, line`,
  ],
  [
    'wallets',
    `UPDATE wallets w SET balance_cents = newest.balance_after_cents, entry_no = newest.entry_no
     FROM (
       SELECT DISTINCT ON (merchant_id, account) merchant_id, account, entry_no,
         balance_after_cents
       FROM entries WHERE entry_no IS NOT NULL
       ORDER BY merchant_id, account, entry_no DESC
     ) newest
     WHERE newest.merchant_id = w.merchant_id AND newest.account = 'wallet:' || w.kind`,
  ],
];

/** What the triggers would have refused: how many journals, and links of chains, are wrong. */
export const CHECK_SEED = `
  SELECT (
    SELECT count(*) FROM (
      SELECT FROM entries GROUP BY merchant_id, journal_id HAVING sum(amount_cents) <> 0
    ) unbalanced
  )::int AS journals, (
    SELECT count(*) FROM (
      SELECT balance_after_cents - amount_cents AS before, entry_no,
        lag(balance_after_cents, 1, 0::bigint) OVER chain AS previous,
        lag(entry_no, 1, 0::bigint) OVER chain AS previous_no
      FROM entries WHERE entry_no IS NOT NULL
      WINDOW chain AS (PARTITION BY merchant_id, account ORDER BY entry_no)
    ) links
    WHERE before <> previous OR entry_no <> previous_no + 1
  )::int AS links`;

/** Which values of the large merchant the cases filter by. */
export const FIND_FACTS = `
  WITH payers AS (
    SELECT payfrom, count(*) AS count FROM collections WHERE merchant_id = $1
      AND status = 'completed' GROUP BY payfrom
  )
  SELECT (SELECT payfrom FROM payers ORDER BY count DESC, payfrom LIMIT 1) AS frequent,
    (SELECT payfrom FROM payers ORDER BY count, payfrom LIMIT 1) AS rare,
    (SELECT ref_no FROM collections WHERE merchant_id = $1 AND status = 'completed'
      ORDER BY created_at OFFSET $2 LIMIT 1) AS ref_no,
    (SELECT count(*)::int FROM collections WHERE merchant_id = $1) AS collections,
    (SELECT count(*)::int FROM entries WHERE merchant_id = $1
      AND transaction_id IS NOT NULL) AS transactions`;
