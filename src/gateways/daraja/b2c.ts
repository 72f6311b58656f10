import type { ParsedCallback, SubmitRequest, SubmitResult } from '../gateway.ts';
import { type DarajaAccount, initiatorOf, noInitiator } from './account.ts';
import { newsOf, refusedHere, submissionResult } from './answers.ts';
import {
  chargeIn,
  type Fields,
  idOf,
  phoneOf,
  readOutcome,
  readTime,
  statedCents,
} from './messages.ts';
import { msisdnOf, remarksOf, wholeShillings } from './request-fields.ts';

/** Payouts to phones. Daraja takes each OriginatorConversationID once, which is our reference. */

const PATH = 'mpesa/b2c/v3/paymentrequest';

/**
 * Sends money to a phone.
 * @throws RangeError when the amount has cents
 */
export async function submitB2c(
  { client, pace, settings }: DarajaAccount,
  request: SubmitRequest,
): Promise<SubmitResult> {
  const initiator = initiatorOf(settings);
  const phone = msisdnOf(request.account);
  if (!initiator) return refusedHere('b2c', noInitiator(settings));
  // A bank account could be some stranger's phone.
  if (phone === null) return refusedHere('b2c', 'The recipient is not a Kenyan phone');
  const body = {
    OriginatorConversationID: request.reference,
    InitiatorName: initiator.name,
    SecurityCredential: initiator.credential,
    CommandID: settings.payoutCommand,
    Amount: wholeShillings(request.amountCents),
    PartyA: settings.shortcode,
    PartyB: phone,
    Remarks: remarksOf(request.narration, 'Payout'),
    QueueTimeOutURL: request.timeoutUrl,
    ResultURL: request.callbackUrl,
  };
  const answer = await client.post(PATH, body, request.deadline);
  return submissionResult('b2c', answer, pace, (fields) => referenceIn(fields, request.reference));
}

/** Reads the Result of a payout. Of the recipient only the phone is kept, not the name. */
export function readB2cResult(body: string): ParsedCallback | null {
  const result = readOutcome(body);
  if (!result) return null;
  const { parameters, code, words, originatorConversationId, conversationId } = result;
  const verdict = newsOf('b2c', result, conversationId, (description) => {
    const amountCents = statedCents(parameters.get('TransactionAmount'));
    if (amountCents === undefined) return { outcome: 'unclear', code, description: words };
    return {
      outcome: 'succeeded',
      transId: idOf(parameters.get('TransactionReceipt')) ?? result.transactionId,
      externalRef: conversationId,
      amountCents,
      account: phoneOf(parameters.get('ReceiverPartyPublicName')),
      description,
      completedAt: readTime(parameters.get('TransactionCompletedDateTime')),
      ...chargeIn(parameters),
    };
  });
  return { reference: originatorConversationId, verdict };
}

/** An acknowledgement of another request says nothing about this one. */
function referenceIn(fields: Fields, reference: string): string | null {
  const named = idOf(fields.OriginatorConversationID) ?? reference;
  return named === reference ? idOf(fields.ConversationID) : null;
}
