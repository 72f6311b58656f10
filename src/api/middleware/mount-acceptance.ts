import { Refusal } from '../../domain/errors.ts';
import { isKeptAlready, type KeyToKeep, keyToKeep } from '../../domain/idempotency.ts';
import { noteAccepted } from '../../tracing/trace-requests.ts';
import type { ApiContext } from '../context.ts';
import type { Endpoint, Fields } from '../endpoints/endpoints.ts';
import {
  type Admitted,
  type AuthenticatedCall,
  admission,
  FIRST_TIME,
  type Performed,
  perform,
  send,
  serve,
} from './mount.ts';

/** An operation that records a payment in one statement. */
export interface Acceptance<Body extends Fields, Row> {
  /** Records the payment, and keeps the key if there is one, in the same statement. */
  accept: (call: AuthenticatedCall<Body>, key: KeyToKeep | null) => Promise<Row>;
  /** Makes the answer. It reads no column of the row that may have changed since. */
  present: (row: Row) => object;
}

/**
 * Serves such an operation to callers with a token. With an idempotency key it tries the one
 * statement first. What that cannot do is done, replayed or refused in a transaction.
 */
export function mountAcceptance<Body extends Fields, Row extends { id: string }>(
  context: ApiContext,
  endpoint: Endpoint<Body>,
  { accept, present }: Acceptance<Body, Row>,
): void {
  const admit = admission(context, endpoint);
  const answerOf = (row: Row) => ({ body: present(row), paymentId: row.id });
  const acceptWithKey = async ({ call, request }: Admitted<Body>): Promise<Performed | null> => {
    if (!request) return null;
    try {
      const row = await accept({ ...call, database: context.database }, keyToKeep(request));
      return { ...answerOf(row), ...FIRST_TIME };
    } catch (error) {
      if (error instanceof Refusal || isKeptAlready(error)) return null;
      throw error;
    }
  };
  serve(context, endpoint, async (req, res) => {
    const admitted = await admit(req, res);
    const answer =
      (await acceptWithKey(admitted)) ??
      (await perform(context, admitted, async (call) => answerOf(await accept(call, null))));
    context.bell.ring('outbox');
    if (!answer.replayed) noteAccepted(res);
    send(res, answer.isRow ? { ...answer, ...answerOf(rowOf(answer.body as Row)) } : answer);
  });
}

/** Returns a row that was kept as JSON, with its times. */
function rowOf<Row extends object>(kept: Row): Row {
  const columns = Object.entries(kept).map(([name, value]) => [
    name,
    name.endsWith('_at') && value !== null ? new Date(value) : value,
  ]);
  return Object.fromEntries(columns);
}
