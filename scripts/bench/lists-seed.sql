-- Two years of two merchants: what the lists read, and nothing else. Rows go in by time, as they
-- would have come. A part begins with its title; :name stands for a number.

--- session: collections are born in the status that they ended in, which triggers refuse
SET session_replication_role = replica;
SET work_mem = '512MB';
SET synchronous_commit = off;
SELECT setseed(0.42);
DELETE FROM entries;
DELETE FROM journals;

--- collections
INSERT INTO collections (merchant_id, id, app_code, channel, gateway, payfrom, amount_cents,
  commission_cents, ref_no, account_number, callback_url, status, result_code, result_description,
  trans_id, payment_completed_at, deadline_at, created_at, next_step, next_step_at, step_no,
  parked_reason)
SELECT merchant_id, uuidv7(created_at - now()), app_code, 63902, 'simulator',
  '+25471' || lpad((phone_index * 7919 % 10000000)::text, 7, '0'), amount_cents,
  round(amount_cents * 0.015)::bigint, 'order-' || i, 'INV-' || i % 5000,
  'https://shop.example/webhooks', status, result_code, result_description,
  CASE status WHEN 'completed' THEN upper(substr(md5(i::text), 1, 10)) END,
  CASE status WHEN 'completed' THEN created_at + interval '9 seconds' END,
  created_at + interval '10 minutes', created_at,
  CASE WHEN is_new THEN 'submit' END, CASE WHEN is_new THEN created_at END, 1,
  CASE WHEN is_parked THEN 'the gateway stayed silent' END
FROM (
  SELECT i, random() AS luck, now() - interval '730 days' * (1 - i / :total::float8) AS created_at,
    CASE i % 11 WHEN 0 THEN :other_id ELSE :main_id END AS merchant_id,
    CASE i % 11 WHEN 0 THEN :other_app ELSE :main_app END AS app_code,
    -- Some payers come often, most do not: five times on average.
    floor(:rows / 5 * random() ^ 2)::bigint AS phone_index,
    (50 + floor(20000 * random() ^ 3))::bigint * 100 AS amount_cents,
    -- In a healthy service only the newest are open, and a few wait for a person.
    i > :total - 30 AS is_new, i % 20011 = 0 AND i <= :total - 30 AS is_parked
  FROM generate_series(1, :total) AS i
) drawn, LATERAL (
  SELECT CASE WHEN is_new AND i % 2 = 0 THEN 'pending' WHEN is_new OR is_parked THEN 'processing'
    WHEN luck < 0.83 THEN 'completed' ELSE 'failed' END AS status
) decided LEFT JOIN (VALUES
  ('completed', 0, 'The service request is processed successfully.'),
  ('failed', 1032, 'Request cancelled by user.')
) AS results (status, result_code, result_description) USING (status)
ORDER BY i;

--- what is to be booked
CREATE TEMP TABLE bookings AS
SELECT *, uuidv7(at - now()) AS journal_id, gen_random_uuid() AS other_source FROM (
  SELECT merchant_id, 'collection' AS source_kind, id AS source_id, payment_completed_at AS at,
    amount_cents, commission_cents, ref_no, payfrom AS counterparty,
    'Collection, net of commission' AS description
  FROM collections WHERE status = 'completed'
  UNION ALL
  SELECT merchant_id, 'transfer', NULL, payment_completed_at + interval '1 minute',
    500000, 0, 'sweep-' || substr(ref_no, 7), NULL, 'Transfer between the wallets'
  FROM collections WHERE status = 'completed' AND substr(ref_no, 7)::bigint % 500 = 0
  UNION ALL
  SELECT merchant_id, 'topup', NULL, created_at + interval '1 second',
    10000000, 0, 'bank-' || substr(ref_no, 7), NULL, 'Top-up'
  FROM collections WHERE substr(ref_no, 7)::bigint % 5000 = 0
) booked;

--- journals
INSERT INTO journals (merchant_id, id, source_kind, source_id, kind, created_at)
SELECT merchant_id, journal_id, source_kind, coalesce(source_id, other_source), 'completed', at
FROM bookings ORDER BY at;

--- entries
INSERT INTO entries (merchant_id, journal_id, line, account, amount_cents, entry_no,
  balance_after_cents, transaction_id, type, ref_no, counterparty, description, created_at)
SELECT merchant_id, journal_id, line, account, cents, listed.*, at
FROM (
  SELECT *, row_number() OVER chain AS no,
    (sum(cents) OVER (chain ROWS UNBOUNDED PRECEDING))::bigint AS balance
  FROM (
    SELECT b.*, line, account, gross * amount_cents + commission * commission_cents AS cents
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
) chained LEFT JOIN LATERAL (
  SELECT no, balance, uuidv7(at - now()), source_kind, ref_no, counterparty, description
  WHERE account LIKE 'wallet:%'
) listed ON true
ORDER BY at, journal_id, line;

--- VACUUM ANALYZE
VACUUM (ANALYZE);

--- values of the large merchant to filter by, by the names of the cases
WITH payers AS (
  SELECT payfrom, count(*) AS count FROM collections
  WHERE merchant_id = :main_id AND status = 'completed' GROUP BY payfrom
), transactions AS (
  SELECT count(*) AS count FROM entries
  WHERE merchant_id = :main_id AND transaction_id IS NOT NULL
)
SELECT (SELECT payfrom FROM payers ORDER BY count DESC, payfrom LIMIT 1) AS "phone frequent",
  (SELECT payfrom FROM payers ORDER BY count, payfrom LIMIT 1) AS "phone rare",
  '+254799999999' AS "phone unknown",
  (SELECT ref_no FROM collections WHERE merchant_id = :main_id AND status = 'completed'
    ORDER BY created_at OFFSET :rows / 3 LIMIT 1) AS "ref_no known",
  greatest(2, least(1000, count / 100))::text AS "page deep", '1' AS "page by-next",
  count::text AS transactions
FROM transactions;
