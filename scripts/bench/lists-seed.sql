-- Two years of two merchants: what the lists read, and nothing else. Rows go in by time, as they
-- would have come. :name stands for a number. No triggers: collections are born as they ended.
SET session_replication_role = replica;
SET work_mem = '512MB';
SET synchronous_commit = off;
SELECT setseed(0.42);
DELETE FROM entries;
DELETE FROM journals;

INSERT INTO collections (merchant_id, id, app_code, channel, gateway, payfrom, amount_cents,
  commission_cents, ref_no, reference, account_number, callback_url, status, result_code, result_description,
  trans_id, payment_completed_at, deadline_at, created_at, next_step, next_step_at, step_no,
  parked_reason)
SELECT merchant_id, uuidv7(created_at - now()), app_code, 63902, 'simulator',
  '+25471' || lpad((phone_index * 7919 % 10000000)::text, 7, '0'), amount_cents,
  round(amount_cents * 0.015)::bigint, 'order-' || i, gen_random_uuid(), 'INV-' || i % 5000,
  'https://shop.example/webhooks', status,
  CASE status WHEN 'completed' THEN 0 WHEN 'failed' THEN 1032 END,
  CASE status WHEN 'completed' THEN 'The service request is processed successfully.'
    WHEN 'failed' THEN 'Request cancelled by user.' END,
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
) decided
ORDER BY i;

WITH bookings AS (
  SELECT booked.*, at, merchant_id, uuidv7(at - now()) AS journal_id
  FROM (SELECT *, substr(ref_no, 7)::bigint AS i FROM collections) c, LATERAL (VALUES
    ('collection', id, status = 'completed', interval '9 seconds', amount_cents, commission_cents,
      ref_no, payfrom, 'Collection, net of commission'),
    ('transfer', gen_random_uuid(), status = 'completed' AND i % 500 = 0, interval '1 minute',
      500000, 0, 'sweep-' || i, NULL, 'Transfer between the wallets'),
    ('topup', gen_random_uuid(), i % 5000 = 0, interval '1 second',
      10000000, 0, 'bank-' || i, NULL, 'Top-up')
  ) AS booked (kind, source_id, is_made, delay, gross, commission, ref_no, counterparty, description),
  LATERAL (SELECT created_at + delay AS at) timed
  WHERE is_made
), made AS (
  INSERT INTO journals (merchant_id, id, source_kind, source_id, kind, created_at)
  SELECT merchant_id, journal_id, kind, source_id, 'completed', at FROM bookings ORDER BY at
)
INSERT INTO entries (merchant_id, journal_id, line, account, amount_cents, entry_no,
  balance_after_cents, transaction_id, type, ref_no, counterparty, description, created_at)
SELECT merchant_id, journal_id, line, account, cents, listed.*, at
FROM (
  SELECT b.*, line, account, cents, row_number() OVER chain AS no,
    (sum(cents) OVER (chain ROWS UNBOUNDED PRECEDING))::bigint AS balance
  FROM bookings b, LATERAL (VALUES
    ('collection', 1::smallint, 'gateway_float', -gross),
    ('collection', 2, 'commission', commission),
    ('collection', 3, 'wallet:collection', gross - commission),
    ('transfer', 1, 'wallet:collection', -gross),
    ('transfer', 2, 'wallet:payout', gross),
    ('topup', 1, 'bank', -gross),
    ('topup', 2, 'wallet:payout', gross)
  ) AS template (of_kind, line, account, cents)
  WHERE of_kind = kind
  WINDOW chain AS (PARTITION BY merchant_id, account ORDER BY at, journal_id)
) chained LEFT JOIN LATERAL (
  SELECT no, balance, uuidv7(at - now()), kind, ref_no, counterparty, description
  WHERE account LIKE 'wallet:%'
) listed ON true
ORDER BY at, journal_id, line;

VACUUM (ANALYZE);
-- Logs slow statements with their plans. Of ten, nine run without the cost of counting.
ALTER DATABASE postgres SET session_preload_libraries = 'auto_explain';
ALTER DATABASE postgres SET auto_explain.log_min_duration = '100ms';
ALTER DATABASE postgres SET auto_explain.sample_rate = 0.1;
ALTER DATABASE postgres SET auto_explain.log_analyze = on;
ALTER DATABASE postgres SET auto_explain.log_buffers = on;
-- Values of the large merchant, by their names in the cases.
WITH completed AS (
  SELECT * FROM collections WHERE merchant_id = :main_id AND status = 'completed'
), payers AS (
  SELECT replace(payfrom, '+', '%2B') AS phone, count(*) AS count FROM completed GROUP BY payfrom
)
SELECT (SELECT phone FROM payers ORDER BY count DESC, phone LIMIT 1) AS "FREQUENT",
  (SELECT phone FROM payers ORDER BY count, phone LIMIT 1) AS "RARE",
  (SELECT ref_no FROM completed ORDER BY created_at OFFSET :rows / 3 LIMIT 1) AS "KNOWN",
  greatest(2, least(1000, count / 100))::text AS "DEEP", count::text AS "TRANSACTIONS"
FROM (SELECT count(*) FROM entries WHERE merchant_id = :main_id AND transaction_id IS NOT NULL) e;
