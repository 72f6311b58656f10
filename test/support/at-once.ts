import { expect } from 'chai';
import { type Database, inTransaction, rows } from '../../src/connections/database.ts';
import { type AnyPayment, lockPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { rewrite } from './database.ts';
import { reread } from './payments.ts';

/** Checks of statements that do all or nothing. */
export function atOnceChecks(databaseOf: () => Database) {
  const change = (sql: string, bindings: object = {}) => rows(databaseOf(), sql, bindings);
  const setPayment = (assignments: string) => (payment: AnyPayment) =>
    rewrite(databaseOf(), `UPDATE ${payment.kind}s SET ${assignments} WHERE id = :id`, payment);

  /** Counts what a payment's life writes. */
  async function written({ id }: AnyPayment): Promise<unknown> {
    const [counts] = await rows(
      databaseOf(),
      `SELECT (SELECT jsonb_agg(a ORDER BY attempt_no) FROM attempts a WHERE payment_id = :id) AS attempts,
         (SELECT count(*) FROM movements WHERE payment_id = :id) AS movements,
         (SELECT count(*) FROM receipts WHERE payment_id = :id) AS receipts,
         (SELECT count(*) FROM events WHERE payment_id = :id) AS events,
         (SELECT count(*) FROM journals WHERE source_id = :id) AS journals,
         (SELECT count(*) FROM payment_history WHERE payment_id = :id) AS history,
         (SELECT count(*) FROM outbox WHERE row_id = :id) AS jobs,
         (SELECT jsonb_agg(status ORDER BY id) FROM callbacks WHERE payment_id = :id) AS callbacks`,
      { id },
    );
    return counts;
  }

  /** Runs `work`, which must do nothing. */
  async function expectNothing(payment: AnyPayment, work: () => Promise<unknown>): Promise<void> {
    const before = [await reread(databaseOf(), payment), await written(payment)];
    expect(await work()).to.be.oneOf([null, false]);
    expect([await reread(databaseOf(), payment), await written(payment)]).to.deep.equal(before);
  }

  /** Runs `work` while somebody else has the payment locked. */
  function whileLocked<Result>(payment: AnyPayment, work: () => Promise<Result>): Promise<Result> {
    return inTransaction(databaseOf(), async (trx) => {
      await lockPayment(trx, refOf(payment));
      return work();
    });
  }

  /** A database in which `between` happens before the second statement. */
  function interrupted(between: () => Promise<unknown>): Database {
    const { client } = databaseOf();
    let statements = 0;
    const own = {
      config: client.config,
      emit: () => {},
      acquireConnection: async () => {
        statements += 1;
        if (statements === 2) await between();
        return client.acquireConnection();
      },
      releaseConnection: (connection: unknown) => client.releaseConnection(connection),
    };
    return { client: own, isTransaction: false } as unknown as Database;
  }

  return { change, setPayment, written, expectNothing, whileLocked, interrupted };
}
