-- Three months of 200 merchants, of which the first has a third of the payments: what the pages of
-- the console read. Rows go in by time, as they would have come. :name stands for a number. No
-- triggers: payments are born as they ended.
SET session_replication_role = replica;
SET work_mem = '512MB';
SET maintenance_work_mem = '512MB';
SET synchronous_commit = off;
SELECT setseed(0.42);

-- The months before this one, which a service of that age has.
DO $$ BEGIN FOR n IN 1..12 LOOP
  EXECUTE format('CREATE TABLE payment_history_%1$s PARTITION OF payment_history FOR VALUES FROM (%2$L) TO (%3$L);'
    || 'CREATE TABLE webhook_attempts_%1$s PARTITION OF webhook_attempts FOR VALUES FROM (%2$L) TO (%3$L)',
    to_char(now() - interval '1 month' * n, 'YYYY_MM'), date_trunc('month', now() - interval '1 month' * n),
    date_trunc('month', now() - interval '1 month' * (n - 1))); END LOOP; END $$;

-- Indexes are made after the rows, which is several times faster.
CREATE TEMP TABLE later AS
SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition
FROM pg_index WHERE indrelid = ANY (CAST(ARRAY['collections', 'payouts', 'attempts', 'callbacks',
    'movements', 'events', 'webhook_deliveries', 'entries', 'audit_log', 'security_events'] AS regclass[]))
  AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid);
DO $$ DECLARE name text; BEGIN FOR name IN SELECT later.name FROM later LOOP
  EXECUTE 'DROP INDEX ' || name; END LOOP; END $$;

CREATE TEMP TABLE shops AS
SELECT row_number() OVER (ORDER BY merchant_id) - 1 AS no, merchant_id, min(code) AS app_code
FROM apps GROUP BY merchant_id;

CREATE TEMP TABLE drawn AS
SELECT numbered.*, merchant_id, app_code, uuidv7(created_at - now()) AS id,
  gen_random_uuid() AS reference, 'https://shop' || shop || '.example' AS endpoint,
  CASE WHEN is_new OR is_stuck THEN 'processing' WHEN i % 7 = 0 THEN 'failed' ELSE 'completed' END AS status,
  upper(substr(md5(i::text), 1, 10)) AS receipt
FROM (
  SELECT i, CASE i % 4 WHEN 0 THEN 'payout' ELSE 'collection' END AS kind,
    CASE i % 3 WHEN 0 THEN 0 ELSE i % (SELECT count(*) FROM shops) END AS shop,
    now() - interval '90 days' * (1 - i / :rows::float8) AS created_at,
    '+25471' || lpad((floor(:rows / 5 * random() ^ 2)::bigint * 7919 % 10000000)::text, 7, '0') AS phone,
    (50 + floor(20000 * random() ^ 3))::bigint * 100 AS amount_cents,
    i > :rows - 60 AS is_new, i % 2500 = 0 AND i <= :rows - 60 AS is_stuck, i % 25 = 0 AS has_failed_job
  FROM generate_series(1, :rows) AS i
) numbered JOIN shops ON no = shop;
CREATE INDEX ON drawn (i);
ANALYZE drawn;

INSERT INTO collections (merchant_id, id, app_code, channel, gateway, payfrom, amount_cents,
  commission_cents, ref_no, reference, external_ref, account_number, callback_url, status,
  result_code, result_description, trans_id, payment_completed_at, deadline_at, created_at,
  next_step, next_step_at, step_no, parked_reason)
SELECT merchant_id, id, app_code, 63902, 'simulator', phone, amount_cents,
  round(amount_cents * 0.015)::bigint, 'order-' || i, reference, 'SIM-' || i, 'INV-' || i % 5000,
  endpoint || '/webhooks', status, CASE status WHEN 'completed' THEN 0 WHEN 'failed' THEN 1032 END,
  status, CASE status WHEN 'completed' THEN receipt END,
  CASE status WHEN 'completed' THEN created_at + interval '9 seconds' END,
  created_at + interval '10 minutes', created_at,
  CASE WHEN is_new THEN 'poll' END, CASE WHEN is_new THEN now() + interval '1 day' END, 3,
  CASE WHEN is_stuck THEN 'job failed: the worker had a bug' END
FROM drawn WHERE kind = 'collection' ORDER BY i;

INSERT INTO payouts (merchant_id, id, app_code, channel, gateway, payto, amount_cents, fee_cents,
  ref_no, category, narration, reference, external_ref, callback_url, status, result_code,
  result_description, trans_id, payment_completed_at, refund_posted_at, deadline_at, created_at,
  next_step, next_step_at, step_no, parked_reason)
SELECT merchant_id, id, app_code, 63902, 'simulator', phone, amount_cents, 500, 'order-' || i,
  'other', 'Pay', reference, 'SIM-' || i, endpoint || '/webhooks', status,
  CASE status WHEN 'completed' THEN 0 WHEN 'failed' THEN 1032 END, status,
  CASE status WHEN 'completed' THEN receipt END,
  CASE status WHEN 'completed' THEN created_at + interval '9 seconds' END,
  CASE status WHEN 'failed' THEN created_at + interval '10 seconds' END,
  created_at + interval '10 minutes', created_at,
  CASE WHEN is_new THEN 'poll' END, CASE WHEN is_new THEN now() + interval '1 day' END, 3,
  CASE WHEN is_stuck THEN 'job failed: the worker had a bug' END
FROM drawn WHERE kind = 'payout' ORDER BY i;

INSERT INTO payment_history (merchant_id, payment_kind, payment_id, from_status, to_status, cause,
  happened_at)
SELECT merchant_id, kind, id, before, after, cause, created_at + delay
FROM drawn, LATERAL (VALUES (NULL, 'pending', 'api', interval '0 s'),
  ('pending', 'processing', 'submission', interval '1 s'),
  ('processing', status, 'callback', interval '9 s')) AS moves (before, after, cause, delay)
WHERE before IS DISTINCT FROM after ORDER BY i, delay;

INSERT INTO attempts (merchant_id, payment_kind, payment_id, attempt_no, result, external_ref,
  started_at, answered_at)
SELECT merchant_id, kind, id, 1, 'acknowledged', 'SIM-' || i, created_at, created_at FROM drawn ORDER BY i;

INSERT INTO callbacks (id, gateway, merchant_id, payment_kind, payment_id, body, status, step_no,
  received_at)
SELECT uuidv7(created_at - now()), 'simulator', merchant_id, kind, id,
  '{"reference":"' || reference || '","status":"succeeded"}', 'processed', 2,
  created_at + interval '9 s' FROM drawn WHERE status <> 'processing' ORDER BY i;

INSERT INTO movements (merchant_id, id, payment_kind, payment_id, gateway, trans_id, amount_cents,
  completed_at, booked, told_by, learned_at, heard_at)
SELECT merchant_id, uuidv7(created_at - now()), kind, id, 'simulator', receipt || suffix, amount_cents,
  created_at + interval '9 s', booked, 'callback', created_at, created_at
FROM drawn, LATERAL (VALUES ('', 'settled', true), ('B', 'suspense', i % 3001 = 0)) AS moved (suffix, booked, is_there)
WHERE status = 'completed' AND is_there ORDER BY i;

INSERT INTO receipts (gateway, direction, receipt, merchant_id, payment_kind, payment_id)
SELECT 'simulator', CASE kind WHEN 'payout' THEN 'out' ELSE 'in' END, receipt, merchant_id, kind, id
FROM drawn WHERE status = 'completed' ON CONFLICT DO NOTHING;

INSERT INTO events (merchant_id, id, app_code, payment_kind, payment_id, type, callback_url,
  endpoint, body, sequence, created_at)
SELECT merchant_id, id, app_code, kind, id, 'transaction.' || status, endpoint || '/webhooks',
  endpoint, '{"notification":{"type":"collection"}}',
  row_number() OVER (PARTITION BY merchant_id ORDER BY i), created_at + interval '10 s'
FROM drawn WHERE status <> 'processing' ORDER BY i;

-- The endpoints of two merchants are held: all of the last weeks waits there, half of it for later.
INSERT INTO webhook_deliveries (merchant_id, event_id, endpoint, created_at, status, attempts,
  delivered_at, next_step, next_step_at, step_no)
SELECT merchant_id, id, endpoint, created_at + interval '10 s',
  CASE WHEN waits THEN 'pending' WHEN i % 5003 = 0 THEN 'exhausted' ELSE 'delivered' END,
  CASE WHEN waits THEN i % 2 ELSE 1 END,
  CASE WHEN NOT waits AND i % 5003 <> 0 THEN created_at + interval '11 s' END,
  CASE WHEN waits THEN 'deliver' END,
  CASE WHEN waits AND i % 2 = 1 THEN now() + interval '1 hour' WHEN waits THEN created_at END, 3
FROM drawn, LATERAL (SELECT shop IN (0, 1) AND i > :rows * 0.85 AS waits) held
WHERE status <> 'processing' ORDER BY i;

INSERT INTO webhook_attempts (merchant_id, event_id, attempt_no, response_status, duration_ms, attempted_at)
SELECT merchant_id, id, 1, 200, 20, created_at + interval '11 s' FROM drawn
WHERE status <> 'processing' ORDER BY i;

INSERT INTO webhook_endpoints (merchant_id, endpoint, breaker, failures, failing_since, last_status,
  last_failure_at, last_success_at, opened_at, probes, probe_at)
SELECT merchant_id, 'https://shop' || no || '.example', CASE WHEN no < 2 THEN 'open' ELSE 'closed' END,
  CASE WHEN no < 2 THEN 9 ELSE 0 END, CASE WHEN no < 2 THEN now() - interval '2 days' END, 500,
  now() - interval '1 minute', now() - interval '2 days',
  CASE WHEN no < 2 THEN now() - interval '2 days' END, 9, CASE WHEN no < 2 THEN now() + interval '1 minute' END
FROM shops;

INSERT INTO journals (merchant_id, id, source_kind, source_id, kind, created_at)
SELECT merchant_id, id, kind, id, 'completed', created_at + interval '9 s'
FROM drawn WHERE status = 'completed' ORDER BY i;

INSERT INTO entries (merchant_id, journal_id, line, account, amount_cents, entry_no,
  balance_after_cents, transaction_id, type, ref_no, counterparty, description, created_at)
SELECT merchant_id, id, line, account, cents, no, balance, transaction_id, type, ref_no, phone,
  description, created_at
FROM (
  SELECT d.*, line, account, cents,
    CASE WHEN account LIKE 'wallet:%' THEN w.entry_no + row_number() OVER chain END AS no,
    CASE WHEN account LIKE 'wallet:%'
      THEN (w.balance_cents + sum(cents) OVER (chain ROWS UNBOUNDED PRECEDING))::bigint END AS balance,
    CASE WHEN account LIKE 'wallet:%' THEN id END AS transaction_id,
    CASE WHEN account LIKE 'wallet:%' THEN d.kind END AS type,
    CASE WHEN account LIKE 'wallet:%' THEN 'order-' || i END AS ref_no, 'A payment' AS description
  FROM drawn d, LATERAL (VALUES
    ('collection', 1::smallint, 'gateway_float', -amount_cents),
    ('collection', 2, 'wallet:collection', amount_cents),
    ('payout', 1, 'payouts_in_flight', amount_cents),
    ('payout', 2, 'wallet:payout', -amount_cents)
  ) AS template (of_kind, line, account, cents)
  -- A wallet's entries go on from its last one.
  JOIN wallets w ON w.kind = of_kind
  WHERE of_kind = d.kind AND status = 'completed' AND w.merchant_id = d.merchant_id
  WINDOW chain AS (PARTITION BY d.merchant_id, account ORDER BY i)
) chained ORDER BY i, line;

-- Of a hundred, one waits, 24 have moved on by themselves, and the others were replayed.
INSERT INTO failed_jobs (queue, kind, step, merchant_id, row_id, step_no, channel, error, failed_at,
  replayed_at, replayed_by, replayed_step)
SELECT CASE WHEN is_stuck THEN 'polling-simulator' ELSE 'settlement' END, kind, 'poll', merchant_id,
  id, 2, 63902, (ARRAY['the worker had a bug', 'connect ECONNREFUSED 10.0.0.7:443', 'answer without a status'])[i / 25 % 3 + 1],
  created_at + interval '1 minute', CASE WHEN was_replayed THEN created_at + interval '1 hour' END,
  CASE WHEN was_replayed THEN 'juma@x.example' END, CASE WHEN was_replayed THEN 'poll' END
FROM drawn, LATERAL (SELECT NOT is_stuck AND i / 25 % 4 <> 0 AS was_replayed) r
WHERE has_failed_job ORDER BY i;

-- A hundred have failed again.
INSERT INTO failed_jobs (queue, kind, step, merchant_id, row_id, step_no, channel, error, failed_at, replayed_at)
SELECT queue, kind, step, merchant_id, row_id, 3, channel, error, failed_at + interval '1 day', now()
FROM failed_jobs WHERE id % 400 = 1 AND replayed_at IS NOT NULL;

INSERT INTO bulk_replays (id, filter, last_job, rate, requested_by, reason, requested_at, state,
  ended_at, done_up_to, outcomes)
SELECT uuidv7(- interval '1 hour' * i), jsonb_build_object('queue', 'settlement', 'as_of', now()), i, 10, 'juma@x.example',
  'The worker is mended', now() - interval '1 hour' * i, 'done', now() - interval '59 minutes' * i,
  i, '{"submit":60}' FROM generate_series(1, 200) AS i;

INSERT INTO discrepancies (id, merchant_id, kind, gateway, payment_kind, payment_id, trans_id,
  amount_cents, details, evidence, opened_at, resolved_at, resolution, resolved_by, resolved_reason)
SELECT uuidv7(created_at - now()), merchant_id, CASE WHEN is_stuck THEN 'overdue' ELSE 'unclear_result' END,
  'simulator', kind, id, NULL, amount_cents, '{}',
  jsonb_build_array(jsonb_build_object('found_at', created_at, 'details', '{}'::jsonb)),
  created_at + interval '20 minutes', CASE WHEN is_over THEN created_at + interval '1 day' END,
  CASE WHEN is_over THEN 'dismissed' END, CASE WHEN is_over THEN 'juma@x.example' END,
  CASE WHEN is_over THEN 'It has ended meanwhile' END
FROM drawn, LATERAL (SELECT i % 1000 <> 0 AND NOT is_stuck AS is_over) r WHERE i % 100 = 0 ORDER BY i;

INSERT INTO approvals (id, action, subject, merchant_id, amount_cents, payload, preview,
  requested_by, reason, requested_at, decided_by, decided_at, decision, decision_reason)
SELECT uuidv7(- interval '1 hour' * i), 'wallet.topup', 'merchant ' || i, (SELECT min(merchant_id) FROM shops),
  500000000, '{}', 'Nothing', 'juma@x.example', 'A transfer has come', now() - interval '1 hour' * i,
  CASE WHEN i > 20 THEN 'asha@x.example' END, CASE WHEN i > 20 THEN now() END,
  CASE WHEN i > 20 THEN 'approved' END, CASE WHEN i > 20 THEN 'Seen in the bank' END
FROM generate_series(1, 1000) AS i;

INSERT INTO audit_log (id, actor, action, merchant_id, subject, reason, details, happened_at)
SELECT id, (ARRAY['juma@x.example', 'asha@x.example', 'otieno@x.example'])[i % 3 + 1],
  CASE WHEN i % 10 = 0 THEN 'webhooks.resend' ELSE 'payment.show' END, merchant_id,
  kind || ' ' || id, CASE WHEN i % 10 = 0 THEN 'Ticket ' || i END, '{"rows":1}', created_at
FROM drawn WHERE i % 3 = 0 ORDER BY i;

INSERT INTO security_events (id, kind, merchant_id, app_code, ip, account_hash, detail, at)
SELECT uuidv7(created_at - now()), CASE WHEN i % 10 = 0 THEN 'log_in_failed' ELSE 'log_in' END, merchant_id,
  app_code, '196.201.214.9', md5('account' || i % 500), '{}', created_at
FROM drawn WHERE i % 3 = 0 ORDER BY i;

INSERT INTO statement_imports (id, gateway, channel, period_from, period_to, source, imported_at,
  covers, started_at, result)
SELECT uuidv7(- interval '1 day' * d), 'simulator', 63902, current_date - d, current_date - d,
  'statement-' || d || '.csv', now() - interval '1 day' * d, '{collection,payout,reversal}',
  now() - interval '1 day' * d,
  '{"lines":{"matched":49500,"settled":0,"contradicts":0,"unknown":500},"outside":0,"settled":0,"answered":0,"failed":0,"missing_count":0,"missing":[]}'
FROM generate_series(1, 30) AS d;

INSERT INTO statement_lines (import_id, line_no, kind, reference, account, amount_cents, trans_id,
  completed_at, result)
SELECT s.id, row_number() OVER (), d.kind, d.reference, d.phone, d.amount_cents, d.receipt,
  d.created_at, CASE WHEN d.i % 100 = 1 THEN 'unknown' ELSE 'matched' END
FROM (SELECT id FROM statement_imports ORDER BY imported_at DESC LIMIT 1) s,
  (SELECT * FROM drawn WHERE status = 'completed' ORDER BY i LIMIT 50000) d;

INSERT INTO outbox (queue, kind, step, merchant_id, row_id, step_no, run_at)
SELECT 'polling-simulator', kind, 'poll', merchant_id, id, 3, now() + interval '1 day'
FROM drawn WHERE i > :rows - 5000;

-- One payment has been asked about for days.
INSERT INTO payment_history (merchant_id, payment_kind, payment_id, from_status, to_status, cause, happened_at)
SELECT merchant_id, kind, id, 'pending', 'processing', 'submission', now() - interval '1 s' * n
FROM drawn, generate_series(1, 100) AS n WHERE i = 2500;
INSERT INTO callbacks (id, gateway, merchant_id, payment_kind, payment_id, body, status, step_no)
SELECT gen_random_uuid(), 'simulator', merchant_id, kind, id, '{}', 'processed', 2
FROM drawn, generate_series(1, 100) AS n WHERE i = 2500;

INSERT INTO paused_channels (code) VALUES (63903);

INSERT INTO users (id, merchant_id, email, name, password_hash, role)
SELECT gen_random_uuid(), merchant_id, 'person' || n || '@shop' || no || '.example', 'Person ' || n, '', 'Admin'
FROM shops, generate_series(1, 3) AS n;

DO $$ DECLARE definition text; BEGIN FOR definition IN SELECT later.definition FROM later LOOP
  EXECUTE definition; END LOOP; END $$;

VACUUM (ANALYZE);
-- Logs slow statements with their plans.
ALTER DATABASE postgres SET session_preload_libraries = 'auto_explain';
ALTER DATABASE postgres SET auto_explain.log_min_duration = '40ms';
ALTER DATABASE postgres SET auto_explain.log_analyze = on;
ALTER DATABASE postgres SET auto_explain.log_timing = off;
-- Values by their names in the cases.
SELECT merchant_id AS "MERCHANT", app_code AS "APP", kind AS "KIND", id AS "PAYMENT",
  replace(phone, '+', '%2B') AS "PHONE", 'order-' || i AS "REF", receipt AS "RECEIPT",
  (SELECT id FROM drawn d WHERE d.i = 2500) AS "LONG", (SELECT kind FROM drawn d WHERE d.i = 2500) AS "LONG_KIND",
  (SELECT merchant_id FROM drawn d WHERE d.i = 2500) AS "LONG_MERCHANT",
  (SELECT id FROM failed_jobs j WHERE j.row_id = (SELECT id FROM drawn d WHERE d.i = 2500)) AS "JOB",
  (SELECT id FROM approvals WHERE decision IS NULL LIMIT 1) AS "APPROVAL",
  (SELECT id FROM bulk_replays LIMIT 1) AS "BULK",
  (SELECT id FROM discrepancies WHERE resolved_at IS NULL AND kind = 'overdue' LIMIT 1) AS "DISCREPANCY",
  (SELECT kind || '/' || merchant_id || '/' || id FROM drawn WHERE is_new LIMIT 1) AS "OPEN",
  (SELECT id FROM statement_imports ORDER BY imported_at DESC LIMIT 1) AS "IMPORT",
  (SELECT id FROM users u WHERE u.merchant_id = drawn.merchant_id LIMIT 1) AS "USER",
  'SIM-' || i AS "EXTERNAL", kind || '%20' || id AS "SUBJECT"
FROM drawn WHERE i = (:rows / 2 / 12) * 12 + 3;
