import { expect } from 'chai';
import { type Outcome, SUCCESS } from '../../scripts/daraja-simulator/behaviours.ts';
import {
  type DarajaError,
  ERRORS,
  invalidField,
} from '../../scripts/daraja-simulator/error-bodies.ts';
import { type Parameters, resultBody } from '../../scripts/daraja-simulator/messages/result.ts';
import { statusParameters } from '../../scripts/daraja-simulator/messages/status-parameters.ts';
import { stkCallback } from '../../scripts/daraja-simulator/messages/stk-callback.ts';
import { transactionResult } from '../../scripts/daraja-simulator/messages/transaction-result.ts';
import { numberOrText } from '../../scripts/daraja-simulator/messages/variety.ts';
import { createFloats, wholeShillings } from '../../scripts/daraja-simulator/money.ts';
import { acknowledgementOf } from '../../scripts/daraja-simulator/routes/initiator-requests.ts';
import type { AnyPayment } from '../../src/domain/payments/payment-store.ts';
import type { DarajaAnswer } from '../../src/gateways/daraja/account.ts';
import { transactionOf } from './daraja-transaction.ts';
import type { GatewayWorld } from './gateway-world.ts';
import type { Call, Told } from './history-gateway.ts';

const STK_QUERY = 'mpesa/stkpushquery/v1/query';
const FLOATS = createFloats(0);
const LOST: DarajaAnswer = { outcome: 'lost', reason: 'timeout' };
const HTML: DarajaAnswer = { outcome: 'answered', status: 200, body: undefined };
const UNAVAILABLE: DarajaAnswer = { outcome: 'answered', status: 503, body: undefined };
const NEVER_SENT: DarajaAnswer = { outcome: 'neverSent', reason: 'no token' };
const UNDER_PROCESSING: Outcome = {
  code: 4999,
  description: 'The transaction is still under processing',
};
const NO_SUCH_TRANSACTION: Outcome = {
  code: 'R000002',
  description: 'The transaction does not exist.',
};
/** Read as an outcome of the payment, it would fail it. */
const NOT_NOW: Outcome = { code: 1, description: 'The balance is insufficient.' };
const ALREADY_REVERSED: Outcome = { code: 'R000001', description: 'Already reversed.' };

/** Says as Daraja does what a world knows. Its forms take turns, so a history is always the same. */
export class DarajaWire {
  readonly #world: GatewayWorld;
  #turns = 0;

  constructor(world: GatewayWorld) {
    this.#world = world;
  }

  /** Answers a submission. */
  submit(
    payment: AnyPayment,
    call: Call,
    path: string,
    body: Record<string, unknown>,
  ): DarajaAnswer {
    expect(body.Amount, path).to.equal(String(wholeShillings(payment.amount_cents)));
    if (call === 'never arrived') return LOST;
    if (call === 'not taken') return this.#oneOf(NEVER_SENT, refused(ERRORS.spikeArrest));
    const isRepeat = payment.kind === 'payout' && this.#world.has(payment);
    if (call === 'declined') this.#world.decline(payment);
    else this.#world.take(payment);
    if (call === 'answer lost')
      return this.#oneOf(LOST, HTML, UNAVAILABLE, refused(ERRORS.internal));
    if (isRepeat) return refused(ERRORS.duplicate);
    // Daraja refuses a reversal at once only for the operator's faults, which pause a channel.
    const isRefused = call === 'declined' && !path.includes('reversal');
    return isRefused ? refused(invalidField('Amount')) : answered(this.#acknowledgement(payment));
  }

  /** Answers a question, or takes one that is answered by callback. */
  query(payment: AnyPayment, call: Call, path: string): DarajaAnswer {
    if (call !== 'answered') {
      return this.#oneOf(
        LOST,
        HTML,
        UNAVAILABLE,
        refused(ERRORS.spikeArrest),
        refused(ERRORS.noTransaction),
      );
    }
    if (path !== STK_QUERY) {
      return answered(acknowledgementOf({ conversationId: 'AG_Q', originatorConversationId: 'Q' }));
    }
    const { status, result } = transactionOf(payment, this.#world.of(payment)!);
    if (status === 'open') {
      const notYet = [ERRORS.processing, ERRORS.processingWithoutWords].map(refused);
      return this.#oneOf(answered(this.#stkAnswer(payment, UNDER_PROCESSING)), ...notYet);
    }
    return answered(this.#stkAnswer(payment, result!));
  }

  /** Makes what comes to the address of an answer, or in its place to that of queue timeouts. */
  answersAbout(payment: AnyPayment, askedAt: Date): Told[] {
    const known = this.#world.of(payment);
    const question = {
      originatorConversationId: 'Q',
      conversationId: 'AG_Q',
      transactionId: 'OAK0000000',
    };
    const answer = (outcome: Outcome, parameters: Parameters) =>
      JSON.stringify(resultBody({ ...question, outcome, parameters }, this.#turn()));
    const timedOut = { body: answer(NOT_NOW, []), address: 'timeout' } as const;
    if (this.#turn() % 5 === 0) return [timedOut];
    const body = known
      ? answer(SUCCESS, statusParameters(transactionOf(payment, known)))
      : answer(NO_SUCH_TRANSACTION, []);
    return [{ body, address: 'answer', askedAt }];
  }

  /** Makes what is told without a question: an outcome, and queue timeouts, which tell nothing. */
  callbacksOf(payment: AnyPayment): Told[] {
    const known = this.#world.of(payment);
    if (!known) return [];
    const transaction = transactionOf(payment, known);
    const turn = this.#turn();
    if (payment.kind === 'collection') {
      return known.newest ? [{ body: withText(stkCallback(transaction, turn), turn) }] : [];
    }
    const isLate = known.newest === null || turn % 3 === 0;
    const timedOut = { ...transaction, status: 'open', result: NOT_NOW } as const;
    const timeout = transactionResult(timedOut, FLOATS, turn, 'result');
    const late: Told[] = isLate ? [{ body: JSON.stringify(timeout), address: 'timeout' }] : [];
    if (!known.newest) return late;
    const isTold = turn % 2 === 0 && payment.kind !== 'payout' && this.#world.hasMoved(payment);
    const told = isTold
      ? { ...transaction, status: 'failed' as const, result: ALREADY_REVERSED }
      : transaction;
    return [...late, { body: JSON.stringify(transactionResult(told, FLOATS, turn, 'result')) }];
  }

  #acknowledgement(payment: AnyPayment): object {
    const { externalRef } = this.#world.of(payment)!;
    if (payment.kind === 'payout') {
      return acknowledgementOf({
        conversationId: externalRef,
        originatorConversationId: payment.reference,
      });
    }
    if (payment.kind !== 'collection') {
      return acknowledgementOf({ conversationId: 'AG_R', originatorConversationId: externalRef });
    }
    const ResponseCode = numberOrText('0', this.#turn());
    return { MerchantRequestID: '1-1-1', CheckoutRequestID: externalRef, ResponseCode };
  }

  #stkAnswer(payment: AnyPayment, { code, description }: Outcome): object {
    const CheckoutRequestID = this.#world.of(payment)!.externalRef;
    const ResultCode = numberOrText(code, this.#turn());
    return { ResponseCode: '0', CheckoutRequestID, ResultCode, ResultDesc: description };
  }

  #turn(): number {
    return this.#turns++;
  }

  #oneOf(...answers: DarajaAnswer[]): DarajaAnswer {
    return answers[this.#turn() % answers.length]!;
  }
}

function answered(body: object, status = 200): DarajaAnswer {
  return { outcome: 'answered', status, body: JSON.parse(JSON.stringify(body)) };
}

function refused({ status, ...body }: DarajaError): DarajaAnswer {
  return answered(body, status);
}

/** Writes the code of some callbacks as text. */
function withText(callback: object, turn: number): string {
  const body = JSON.stringify(callback);
  return turn % 4 < 2 ? body : body.replace(/"ResultCode":(\d+)/, '"ResultCode":"$1"');
}
