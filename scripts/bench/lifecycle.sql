-- Writes the rows of completed collections, those from :first to :last, in four transactions: as
-- few statements as can do it, and nothing that decides. What the service adds is its own cost.
WITH made AS (
  INSERT INTO collections (merchant_id, id, app_code, channel, gateway, payfrom, amount_cents,
    commission_cents, ref_no, reference, account_number, callback_url, deadline_at, next_step,
    next_step_at, step_no, asked_family, asked_app, asked_ip)
  SELECT :merchant_id, CAST(lpad(to_hex(i), 32, '0') AS uuid), :app_code, 63902, 'simulator',
    '+25471' || lpad((i % 10000000)::text, 7, '0'), 25000, 375, 'floor-' || i,
    CAST(lpad(to_hex(i), 32, '0') AS uuid), 'INV-7', 'http://127.0.0.1:9/webhooks',
    now() + interval '10 minutes', 'submit', now(), 1,
    CAST(lpad(to_hex(i), 32, '0') AS uuid), :app_code, '127.0.0.1'
  FROM generate_series(CAST(:first AS bigint), CAST(:last AS bigint)) AS i
  RETURNING *
), remembered AS (
  INSERT INTO payment_history (merchant_id, payment_kind, payment_id, from_status, to_status, cause)
  SELECT merchant_id, 'collection', id, NULL, status, 'api' FROM made
)
INSERT INTO outbox (queue, kind, step, merchant_id, row_id, step_no, run_at)
SELECT 'submission-simulator', 'collection', 'submit', merchant_id, id, 1, now() FROM made;

WITH ids AS MATERIALIZED (
  SELECT CAST(lpad(to_hex(i), 32, '0') AS uuid) AS id
  FROM generate_series(CAST(:first AS bigint), CAST(:last AS bigint)) AS i
), taken AS (
  DELETE FROM outbox USING ids WHERE row_id = ids.id
), attempted AS (
  INSERT INTO attempts (merchant_id, payment_kind, payment_id, attempt_no, result, external_ref,
    answered_at)
  SELECT :merchant_id, 'collection', id, 1, 'acknowledged', 'SIM-' || id, now() FROM ids
), moved AS (
  UPDATE collections c SET status = 'processing', external_ref = 'SIM-' || c.id,
    next_step = 'poll', next_step_at = now() + interval '5 seconds', step_no = 2
  FROM ids WHERE c.merchant_id = :merchant_id AND c.id = ids.id
  RETURNING c.merchant_id, c.id, c.status
)
INSERT INTO payment_history (merchant_id, payment_kind, payment_id, from_status, to_status, cause)
SELECT merchant_id, 'collection', id, 'pending', status, 'submission' FROM moved;

WITH ids AS MATERIALIZED (
  SELECT CAST(lpad(to_hex(i), 32, '0') AS uuid) AS id, row_number() OVER (ORDER BY i) AS place
  FROM generate_series(CAST(:first AS bigint), CAST(:last AS bigint)) AS i
), told AS (
  INSERT INTO callbacks (id, gateway, merchant_id, payment_kind, payment_id, body, status, step_no)
  SELECT id, 'simulator', :merchant_id, 'collection', id,
    '{"reference":"' || id || '","status":"succeeded"}', 'processed', 2 FROM ids
), claimed AS (
  INSERT INTO receipts (gateway, direction, receipt, merchant_id, payment_kind, payment_id)
  SELECT 'simulator', 'in', 'R' || id, :merchant_id, 'collection', id FROM ids
), learned AS (
  INSERT INTO movements (merchant_id, id, payment_kind, payment_id, gateway, trans_id,
    amount_cents, completed_at, booked, told_by)
  SELECT :merchant_id, id, 'collection', id, 'simulator', 'R' || id, 25000, now(), 'settled',
    'callback' FROM ids
), moved AS (
  UPDATE collections c SET status = 'completed', result_code = 0, result_description = 'Done',
    trans_id = 'R' || c.id, payment_completed_at = now(), next_step = NULL, next_step_at = NULL,
    step_no = 3
  FROM ids WHERE c.merchant_id = :merchant_id AND c.id = ids.id
  RETURNING c.*, ids.place
), remembered AS (
  INSERT INTO payment_history (merchant_id, payment_kind, payment_id, from_status, to_status, cause)
  SELECT merchant_id, 'collection', id, 'processing', status, 'callback' FROM moved
), announced AS (
  INSERT INTO events (merchant_id, id, app_code, payment_kind, payment_id, type, callback_url,
    endpoint, body)
  SELECT merchant_id, id, app_code, 'collection', id, 'transaction.completed', callback_url,
    'http://127.0.0.1:9', '{"notification":{"type":"collection"}}' FROM moved
), journal AS (
  INSERT INTO journals (merchant_id, id, source_kind, source_id, kind)
  SELECT merchant_id, id, 'collection', id, 'completed' FROM moved
), wallet AS (
  UPDATE wallets SET balance_cents = balance_cents + 24625 * (SELECT count(*) FROM ids),
    entry_no = entry_no + (SELECT count(*) FROM ids)
  WHERE merchant_id = :merchant_id AND kind = 'collection'
  RETURNING balance_cents - 24625 * (SELECT count(*) FROM ids) AS before_cents,
    entry_no - (SELECT count(*) FROM ids) AS entry_no
)
INSERT INTO entries (merchant_id, journal_id, line, account, amount_cents, entry_no,
  balance_after_cents, transaction_id, type, ref_no, counterparty, description, created_at)
SELECT merchant_id, id, line, account, cents,
  CASE line WHEN 3 THEN entry_no + place END,
  CASE line WHEN 3 THEN before_cents + 24625 * place END,
  CASE line WHEN 3 THEN id END, CASE line WHEN 3 THEN 'collection' END,
  CASE line WHEN 3 THEN ref_no END, CASE line WHEN 3 THEN payfrom END,
  CASE line WHEN 3 THEN 'Collection, net of commission' END, clock_timestamp()
FROM wallet, moved, (VALUES (1::smallint, 'gateway_float', -25000), (2, 'commission', 375),
  (3, 'wallet:collection', 24625)) AS lines (line, account, cents);

WITH ids AS MATERIALIZED (
  SELECT CAST(lpad(to_hex(i), 32, '0') AS uuid) AS id, row_number() OVER (ORDER BY i) AS place
  FROM generate_series(CAST(:first AS bigint), CAST(:last AS bigint)) AS i
), counted AS (
  INSERT INTO event_sequences AS s (merchant_id, last_sequence)
  SELECT :merchant_id, count(*) FROM ids
  ON CONFLICT (merchant_id) DO UPDATE SET last_sequence = s.last_sequence + excluded.last_sequence
  RETURNING last_sequence - (SELECT count(*) FROM ids) AS before
), numbered AS (
  UPDATE events e SET sequence = before + place FROM ids, counted
  WHERE e.merchant_id = :merchant_id AND e.id = ids.id
), delivered AS (
  INSERT INTO webhook_deliveries (merchant_id, event_id, endpoint, created_at, status, attempts,
    delivered_at, step_no)
  SELECT :merchant_id, id, 'http://127.0.0.1:9', now(), 'delivered', 1, now(), 3 FROM ids
)
INSERT INTO webhook_attempts (merchant_id, event_id, attempt_no, response_status, duration_ms)
SELECT :merchant_id, id, 1, 200, 1 FROM ids;
