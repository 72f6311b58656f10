import { type Database, rows } from '../../src/connections/database.ts';

/** Callbacks that are due to be deleted. */
export async function insertOldCallbacks(database: Database, count = 1): Promise<void> {
  await rows(
    database,
    `INSERT INTO callbacks
       (id, gateway, merchant_id, payment_kind, payment_id, body, status, received_at)
     SELECT gen_random_uuid(), 'simulator', 1001, 'payout', gen_random_uuid(), '', 'rejected', now() - interval '1 year'
     FROM generate_series(1, CAST(:count AS integer))`,
    { count },
  );
}

/**
 * From now on a batch of callbacks fails: one that is younger than those of insertOldCallbacks,
 * and old enough, cannot be deleted. @returns how to let it go.
 */
export async function refuseToDelete(owner: Database): Promise<() => Promise<void>> {
  await owner.raw(`
    INSERT INTO callbacks
      (id, gateway, merchant_id, payment_kind, payment_id, body, status, received_at)
    VALUES (gen_random_uuid(), 'simulator', 1001, 'payout', gen_random_uuid(), 'protected', 'rejected', now() - interval '91 days');
    CREATE FUNCTION refuse_to_delete() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'protected'; END $$;
    CREATE TRIGGER refuse_to_delete BEFORE DELETE ON callbacks FOR EACH ROW
      WHEN (OLD.body = 'protected') EXECUTE FUNCTION refuse_to_delete()`);
  return async () => {
    await rows(owner, 'DROP TRIGGER refuse_to_delete ON callbacks');
  };
}
