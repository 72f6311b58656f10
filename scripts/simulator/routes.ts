import type { RequestHandler, Response } from 'express';
import { behaviourOf, type Refusal } from './behaviours.ts';
import { answer } from './faults.ts';
import { type PaymentRequest, readPaymentRequest } from './payment-request.ts';
import { type Payment, type Payments, presentMovement, presentPayment } from './payments.ts';
import type { Resource } from './resources.ts';

/** Serves POST /collections and the like. A known reference gets its first answer again. */
export function submitRoute(payments: Payments, resource: Resource): RequestHandler {
  return async (req, res) => {
    const request = readPaymentRequest(req.body);
    if (typeof request === 'string') return answer(res, 400, { detail: request });
    const known = payments.find(request.reference);
    if (!known) return takeNew(payments, resource, request, res);
    if (known.resource === resource) return answerTaken(res, known);
    answer(res, 409, { detail: 'Reference was used for another kind of payment' });
  };
}

/** Serves GET /payments/:reference. */
export function queryRoute(payments: Payments): RequestHandler<{ reference: string }> {
  return (req, res) => {
    const payment = payments.find(req.params.reference);
    const isLost = payment?.status === 'pending' && payment.behaviour.questions === 'lost';
    if (isLost) res.destroy();
    else if (payment) answer(res, 200, presentPayment(payment));
    else answer(res, 404, { status: 'not_found' });
  };
}

/** Serves GET /statement: the movements, oldest first; `from` and `to` are ISO 8601. */
export function statementRoute(payments: Payments): RequestHandler {
  return (req, res) => {
    const wrong = ['reference', 'from', 'to'].find((name) => !isOptionalText(req.query[name]));
    if (wrong) {
      res.status(400).json({ detail: `Invalid query parameter: ${wrong}` });
      return;
    }
    const { reference, from = '', to = '9999' } = req.query as Record<string, string>;
    const asked = payments.movements.filter((each) => {
      const completedAt = each.completedAt?.toISOString() ?? '';
      return (
        (!reference || each.reference === reference) && completedAt >= from && completedAt < to
      );
    });
    res.json(asked.map(presentMovement));
  };
}

function isOptionalText(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

async function takeNew(
  payments: Payments,
  resource: Resource,
  request: PaymentRequest,
  res: Response,
): Promise<void> {
  const behaviour = behaviourOf(request.account, resource.direction);
  if (payments.leavesUnprocessed(request.reference, behaviour)) {
    if (behaviour.notProcessed.answer === 'none') res.destroy();
    else answer(res, 503, { detail: 'Service unavailable' });
    return;
  }
  const payment = payments.take(resource, request, behaviour);
  if (behaviour.answer === 'lost') {
    res.destroy();
    return;
  }
  if (behaviour.answer === 'after the callback') await payments.succeed(payment);
  answerTaken(res, payment);
}

/** Answers by the behaviour alone, so the answer is the same before and after the outcome. */
function answerTaken(res: Response, { behaviour, externalRef }: Payment): void {
  const { declined } = behaviour;
  if (declined) answer(res, 200, presentDecline(declined, externalRef));
  else answer(res, 202, { status: 'accepted', external_ref: externalRef });
}

function presentDecline({ code, description }: Refusal, externalRef: string) {
  return {
    status: 'declined',
    result_code: code,
    result_description: description,
    external_ref: externalRef,
  };
}
