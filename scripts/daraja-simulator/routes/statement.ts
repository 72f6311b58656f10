import type { RequestHandler } from 'express';
import { formatShillings } from '../money.ts';
import type { Transaction } from '../transactions.ts';
import type { World } from '../world.ts';

/** Serves GET /statement: the movements, oldest first; `from` and `to` are ISO 8601. */
export function statementRoute({ transactions }: World): RequestHandler {
  return (req, res) => {
    const wrong = ['reference', 'from', 'to'].find((name) => !isOptionalText(req.query[name]));
    if (wrong) {
      res.status(400).json({ detail: `Invalid query parameter: ${wrong}` });
      return;
    }
    const { reference, from = '', to = '9999' } = req.query as Record<string, string>;
    const lines = transactions.movements().map(presentMovement);
    const isAsked = ({ completed_at: time, ...line }: Line) =>
      (!reference || line.reference === reference) && time >= from && time < to;
    res.json(lines.filter(isAsked));
  };
}

type Line = ReturnType<typeof presentMovement>;

function presentMovement(transaction: Transaction) {
  const { kind, checkoutRequestId, originatorConversationId, accountReference } = transaction;
  return {
    reference: checkoutRequestId ?? originatorConversationId,
    kind,
    account: `+${transaction.phone}`,
    amount: formatShillings(transaction.amountCents),
    trans_id: transaction.receipt,
    completed_at: transaction.completedAt!.toISOString(),
    ...(accountReference !== null && { account_reference: accountReference }),
  };
}

function isOptionalText(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}
