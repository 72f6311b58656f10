import { MINUTE_MS } from '../../time.ts';
import type { PaymentNews, SubmitResult } from '../gateway.ts';
import type { Pace } from '../pace.ts';
import type { DarajaAnswer } from './account.ts';
import { type Meaning, meaningOf, operatorRefusal, type Product } from './codes.ts';
import { type Fields, fieldsOf, idOf, wordsOf } from './messages.ts';

/** The wait after Daraja has turned a request away because there was too much traffic. */
const BUSY_RETRY_MS = 10_000;
/** The wait while the customer has another prompt open. Safaricom says: at least a minute. */
const LOCKED_RETRY_MS = MINUTE_MS;
const TOO_MANY_REQUESTS = 429;
const UNAVAILABLE = 503;
const FORBIDDEN = 403;

type Answered = Extract<DarajaAnswer, { outcome: 'answered' }>;

/** The contents of an answer. `meaning` is null when the table has no such code. */
export interface Heard {
  status: number;
  fields: Fields;
  code: string | null;
  words: string;
  meaning: Meaning | null;
  /** Daraja took the request: the status, the code and the words agree. */
  isTaken: boolean;
  /** The code belongs to an error, not to a response. */
  isError: boolean;
}

/** Reads a complete answer, and tells the pace whether Daraja is busy. */
export function hear(product: Product, { status, body }: Answered, pace: Pace): Heard {
  const fields = fieldsOf(body);
  const fault = fieldsOf(fields.fault);
  const code = idOf(fields.errorCode ?? fields.ResponseCode ?? fieldsOf(fault.detail).errorcode);
  const words = wordsOf(
    fields.errorMessage ??
      fields.ResponseDescription ??
      fields.ResponseMessage ??
      fault.faultstring,
  );
  const meaning = meaningOf(product, code, words);
  if (isBusy(status, body, meaning)) pace.narrow();
  else pace.widen();
  const isTaken = isSuccess(status) && code === '0' && meaning?.class === 'succeeded';
  const isError = (fields.errorCode ?? fields.fault ?? null) !== null;
  return { status, fields, code, words, meaning, isTaken, isError };
}

/**
 * Tells what the answer to a submission means for the payment.
 * @param referenceIn finds Daraja's reference in an acknowledgement. Null: it acknowledges another request.
 */
export function submissionResult(
  product: Product,
  answer: DarajaAnswer,
  pace: Pace,
  referenceIn: (fields: Fields) => string | null,
): SubmitResult {
  if (answer.outcome === 'lost') return { outcome: 'unknown', reason: answer.reason };
  if (answer.outcome === 'neverSent') return { ...answer, outcome: 'notTaken' };
  const heard = hear(product, answer, pace);
  const externalRef = heard.isTaken ? referenceIn(heard.fields) : null;
  return externalRef ? { outcome: 'acknowledged', externalRef } : refusalIn(product, heard);
}

/** Refuses a submission that was never made, for a trouble of the operator's own. */
export function refusedHere(product: Product, trouble: string): SubmitResult {
  return { outcome: 'declined', ...operatorRefusal(product, trouble), externalRef: null };
}

/**
 * Tells what a result's code means for the payment. `onSuccess` makes the news of a success, with
 * the given description.
 */
export function newsOf(
  product: Product,
  { code, words }: { code: string; words: string },
  externalRef: string | null,
  onSuccess: (description: string) => PaymentNews,
): PaymentNews {
  const meaning = meaningOf(product, code, words);
  switch (meaning?.class) {
    case 'succeeded':
      return onSuccess(meaning.description);
    case 'operator':
      return { outcome: 'failed', ...operatorRefusal(product, said(code, words)), externalRef };
    case 'pending':
    case 'duplicate':
      return { outcome: 'pending' };
    case 'reversed':
      return { outcome: 'unclear', code, description: words, hasMoved: true };
    case 'declined':
    case 'locked':
    case 'busy':
      if (meaning.code === null) break;
      return {
        outcome: 'failed',
        code: meaning.code,
        description: meaning.description,
        externalRef,
      };
  }
  return { outcome: 'unclear', code, description: words };
}

/** A question that brought no answer. It says nothing about the payment. */
export function noAnswer(reason: string) {
  return { outcome: 'noAnswer' as const, reason };
}

/** Says what an answer was, for logs and support. */
export function reasonOf({ status, code, words }: Heard): string {
  const answer = said(code, words);
  return answer === '' ? `Unexpected answer, HTTP ${status}` : `HTTP ${status}: ${answer}`;
}

/** The code of an answer that the table does not have, as the field of a result. */
export function unknownCodeOf({ code, meaning }: Heard): { unknownCode?: string } {
  return code !== null && meaning === null ? { unknownCode: code } : {};
}

/** A firewall in front of Daraja answers floods with pages that are not JSON. */
function isBusy(status: number, body: unknown, meaning: Meaning | null): boolean {
  if (meaning?.class === 'busy' || meaning?.class === 'down') return true;
  if (status === TOO_MANY_REQUESTS || status === UNAVAILABLE) return true;
  return status === FORBIDDEN && body === undefined;
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

function said(code: string | null, words: string): string {
  return wordsOf(`${code ?? ''} ${words}`);
}

/**
 * Only an error's code refuses a submission. The codes of results are not documented for
 * submissions, so they leave it unknown.
 */
function refusalIn(product: Product, heard: Heard): SubmitResult {
  const { meaning, code, words, status, isError } = heard;
  const reason = reasonOf(heard);
  // HTTP 429 promises that the request was turned away.
  const isTurnedAway = isError || status === TOO_MANY_REQUESTS;
  if (isTurnedAway && (meaning ? meaning.class === 'busy' : !isError)) {
    return { outcome: 'notTaken', reason, retryAfterMs: BUSY_RETRY_MS };
  }
  if (meaning?.class === 'duplicate') return { outcome: 'acknowledged', externalRef: null };
  if (isError && meaning?.class === 'operator') return refusedHere(product, said(code, words));
  if (isError && meaning?.class === 'declined') {
    const { code: ownCode, description } = meaning;
    return { outcome: 'declined', code: ownCode, description, externalRef: null };
  }
  if (isError && meaning?.class === 'locked') {
    return { outcome: 'notTaken', reason, retryAfterMs: LOCKED_RETRY_MS };
  }
  return { outcome: 'unknown', reason, ...unknownCodeOf(heard) };
}
