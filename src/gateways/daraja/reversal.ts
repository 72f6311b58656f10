import { MINUTE_MS } from '../../time.ts';
import type { ParsedCallback, SubmitRequest, SubmitResult } from '../gateway.ts';
import { type DarajaAccount, initiatorOf, noInitiator } from './account.ts';
import { newsOf, refusedHere, submissionResult } from './answers.ts';
import { chargeIn, idOf, readOutcome, readTime, statedCents } from './messages.ts';
import { remarksOf, wholeShillings } from './request-fields.ts';

/** Reversals and returns of collections. Daraja knows them by its own OriginatorConversationID. */

const PATH = 'mpesa/reversal/v1/request';
/** Daraja's code for the shortcode of an organisation in a reversal. */
const SHORTCODE_IDENTIFIER = '11';
/** A receipt comes with a callback or a statement, which takes its time. */
const RECEIPT_RETRY_MS = 10 * MINUTE_MS;

/**
 * Gives a collection back. It waits as `notTaken` until the receipt is known.
 * @throws RangeError when the amount has cents
 */
export async function submitReversal(
  { client, pace, settings }: DarajaAccount,
  request: SubmitRequest,
): Promise<SubmitResult> {
  const initiator = initiatorOf(settings);
  if (!initiator) return refusedHere('reversal', noInitiator(settings));
  if (request.originalTransId === null) {
    const reason = 'The receipt of the collection is awaited';
    return { outcome: 'notTaken', reason, retryAfterMs: RECEIPT_RETRY_MS };
  }
  const body = {
    Initiator: initiator.name,
    SecurityCredential: initiator.credential,
    CommandID: 'TransactionReversal',
    TransactionID: request.originalTransId,
    Amount: wholeShillings(request.amountCents),
    ReceiverParty: settings.shortcode,
    RecieverIdentifierType: SHORTCODE_IDENTIFIER,
    ResultURL: request.callbackUrl,
    QueueTimeOutURL: request.timeoutUrl,
    Remarks: remarksOf(request.narration, 'Reversal'),
  };
  const answer = await client.post(PATH, body, request.deadline);
  return submissionResult('reversal', answer, pace, (fields) =>
    idOf(fields.OriginatorConversationID),
  );
}

/** Reads the Result of a reversal. */
export function readReversalResult(body: string): ParsedCallback | null {
  const result = readOutcome(body);
  if (!result) return null;
  const { parameters, code, words, originatorConversationId: externalRef } = result;
  const verdict = newsOf('reversal', result, externalRef, (description) => {
    const amountCents = statedCents(parameters.get('Amount'));
    if (amountCents === undefined) return { outcome: 'unclear', code, description: words };
    return {
      outcome: 'succeeded',
      transId: result.transactionId,
      externalRef,
      amountCents,
      account: null,
      description,
      completedAt: readTime(parameters.get('TransCompletedTime')),
      ...chargeIn(parameters),
    };
  });
  return { reference: null, verdict };
}
