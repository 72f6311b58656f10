import type {
  ParsedCallback,
  QueryRequest,
  QueryResult,
  SubmitRequest,
  SubmitResult,
} from '../gateway.ts';
import type { DarajaAccount } from './account.ts';
import {
  hear,
  newsOf,
  noAnswer,
  reasonOf,
  refusedHere,
  submissionResult,
  unknownCodeOf,
} from './answers.ts';
import { meaningOf } from './codes.ts';
import {
  fieldsOf,
  idOf,
  namedValues,
  parseJson,
  phoneOf,
  readTime,
  statedCents,
  wordsOf,
} from './messages.ts';
import { msisdnOf, promptTexts, stkAuthority, wholeShillings } from './request-fields.ts';

/** Prompts on the payer's phone (M-PESA Express). They collect money. */

const SUBMIT_PATH = 'mpesa/stkpush/v1/processrequest';
const QUERY_PATH = 'mpesa/stkpushquery/v1/query';

/**
 * Sends a prompt. Daraja takes the same prompt twice if it is sent twice.
 * @throws RangeError when the amount has cents
 */
export async function submitStkPush(
  { client, pace, settings }: DarajaAccount,
  request: SubmitRequest,
): Promise<SubmitResult> {
  const { shortcode, passkey, type, till } = settings;
  const phone = msisdnOf(request.account);
  if (passkey === null) return refusedHere('stk', `No passkey is configured for ${shortcode}`);
  if (phone === null) return refusedHere('stk', 'The payer is not a Kenyan phone');
  const body = {
    ...stkAuthority(shortcode, passkey),
    TransactionType: type === 'till' ? 'CustomerBuyGoodsOnline' : 'CustomerPayBillOnline',
    Amount: wholeShillings(request.amountCents),
    PartyA: phone,
    PartyB: till ?? shortcode,
    PhoneNumber: phone,
    CallBackURL: request.callbackUrl,
    ...promptTexts(request),
  };
  const answer = await client.post(SUBMIT_PATH, body, request.deadline);
  return submissionResult('stk', answer, pace, (fields) => idOf(fields.CheckoutRequestID));
}

/** Asks for a prompt's outcome. Daraja tells neither receipt nor amount here. */
export async function queryStkPush(
  { client, pace, settings: { shortcode, passkey } }: DarajaAccount,
  { externalRef }: QueryRequest,
): Promise<QueryResult> {
  if (externalRef === null) {
    // Daraja keeps no reference of ours. A statement may rule the payment out, or show it.
    return { outcome: 'notFound' };
  }
  if (passkey === null) return noAnswer(`No passkey is configured for ${shortcode}`);
  const question = { ...stkAuthority(shortcode, passkey), CheckoutRequestID: externalRef };
  const answer = await client.post(QUERY_PATH, question);
  if (answer.outcome !== 'answered') return noAnswer(answer.reason);
  const heard = hear('stk', answer, pace);
  if (heard.meaning?.class === 'pending') return { outcome: 'pending' };
  // An error says nothing about the payment: it also comes for prompts that have ended.
  if (!heard.isTaken) return { ...noAnswer(reasonOf(heard)), ...unknownCodeOf(heard) };
  const { CheckoutRequestID, ResultCode, ResultDesc } = heard.fields;
  const code = idOf(ResultCode);
  if (code === null || (idOf(CheckoutRequestID) ?? externalRef) !== externalRef) {
    return noAnswer(`Unexpected answer, HTTP ${heard.status}`);
  }
  return verdictOf({ code, words: wordsOf(ResultDesc) }, externalRef);
}

/**
 * Reads the callback of a prompt.
 * @param confirmAboveCents a success above this amount must be confirmed; null: no limit
 */
export function readStkCallback(
  body: string,
  confirmAboveCents: number | null,
): ParsedCallback | null {
  const callback = fieldsOf(fieldsOf(fieldsOf(parseJson(body)).Body).stkCallback);
  const externalRef = idOf(callback.CheckoutRequestID);
  const code = idOf(callback.ResultCode);
  if (externalRef === null || code === null) return null;
  const words = wordsOf(callback.ResultDesc);
  const verdict = newsOf('stk', { code, words }, externalRef, (description) => {
    const items = namedValues(fieldsOf(callback.CallbackMetadata).Item);
    const amountCents = statedCents(items.get('Amount'));
    if (amountCents === undefined) return { outcome: 'unclear', code, description: words };
    // A success without an amount stands for the whole amount of the request.
    const isLarge =
      confirmAboveCents !== null && (amountCents === null || amountCents > confirmAboveCents);
    return {
      outcome: 'succeeded',
      transId: idOf(items.get('MpesaReceiptNumber')),
      externalRef,
      amountCents,
      account: phoneOf(items.get('PhoneNumber')),
      description,
      completedAt: readTime(items.get('TransactionDate')),
      ...(isLarge && { mustConfirm: true }),
    };
  });
  return { reference: null, verdict };
}

function verdictOf(result: { code: string; words: string }, externalRef: string): QueryResult {
  // "Busy" may be about the question, and not about the prompt.
  const isBusy = meaningOf('stk', result.code, result.words)?.class === 'busy';
  if (isBusy) return noAnswer(`${result.code} ${result.words}`);
  const news = newsOf('stk', result, externalRef, (description) => ({
    outcome: 'succeeded',
    transId: null,
    externalRef,
    amountCents: null,
    account: null,
    description,
    completedAt: null,
  }));
  if (news.outcome !== 'unclear') return news;
  return { ...noAnswer(`${news.code} ${news.description}`), unknownCode: news.code };
}
