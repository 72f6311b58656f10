import type {
  Asked,
  CallbackNews,
  GatewayPaymentKind,
  ParsedCallback,
  QueryRequest,
  QueryResult,
  ReceiptQuestion,
} from '../gateway.ts';
import { type DarajaAccount, initiatorOf, noInitiator } from './account.ts';
import { hear, newsOf, noAnswer, reasonOf, unknownCodeOf } from './answers.ts';
import { meaningOf } from './codes.ts';
import {
  chargeIn,
  type DarajaResult,
  idOf,
  maskedPhoneOf,
  type Named,
  readResult,
  readTime,
  statedCents,
  wordsOf,
} from './messages.ts';

/** The question for the fate of a payout, reversal or return. Its answer comes as a callback. */

const PATH = 'mpesa/transactionstatus/v1/query';
/** Daraja's code for the shortcode of an organisation. */
const SHORTCODE_IDENTIFIER = '4';
/** Other things may be missing too, an initiator say. Only the transaction's absence counts. */
const NOT_FOUND =
  /\btransaction(?: id| receipt| receipt number| record)? (?:(?:does not|doesn't|do not) exist|(?:was |is |could )?not (?:be )?found)/i;

/** Asks about a payout by our reference, and about the others by Daraja's. */
export async function askStatus(
  account: DarajaAccount,
  request: QueryRequest,
): Promise<QueryResult> {
  const original = request.kind === 'payout' ? request.reference : request.externalRef;
  if (original === null) return noAnswer('The acknowledgement was lost, so there is no reference');
  if (request.callbackUrl === null || request.timeoutUrl === null) {
    return noAnswer('Nobody knows yet where gateways reach us');
  }
  const { callbackUrl, timeoutUrl } = request;
  return ask(account, { OriginalConversationID: original }, { callbackUrl, timeoutUrl });
}

/** Asks about a receipt. */
export function askReceipt(
  account: DarajaAccount,
  { receipt, ...addresses }: ReceiptQuestion,
): Promise<Asked> {
  return ask(account, { TransactionID: receipt }, addresses);
}

async function ask(
  { client, pace, settings }: DarajaAccount,
  about: { OriginalConversationID: string } | { TransactionID: string },
  { callbackUrl, timeoutUrl }: Pick<ReceiptQuestion, 'callbackUrl' | 'timeoutUrl'>,
): Promise<Asked> {
  const initiator = initiatorOf(settings);
  if (!initiator) return noAnswer(noInitiator(settings));
  const body = {
    Initiator: initiator.name,
    SecurityCredential: initiator.credential,
    CommandID: 'TransactionStatusQuery',
    ...about,
    PartyA: settings.shortcode,
    IdentifierType: SHORTCODE_IDENTIFIER,
    ResultURL: callbackUrl,
    QueueTimeOutURL: timeoutUrl,
    Remarks: 'Status',
    Occasion: 'Status',
  };
  const answer = await client.post(PATH, body);
  if (answer.outcome !== 'answered') return noAnswer(answer.reason);
  const heard = hear('question', answer, pace);
  if (heard.isTaken) return { outcome: 'asked' };
  return { ...noAnswer(reasonOf(heard)), ...unknownCodeOf(heard) };
}

/**
 * Reads the answer to the question. The code of the Result is the question's own: the payment's
 * fate and references are among the parameters.
 */
export function readStatusResult(
  body: string,
  kind: GatewayPaymentKind,
  settlingWindowMs: number,
): ParsedCallback | null {
  const result = readResult(body);
  if (!result) return null;
  const { code, words, parameters } = result;
  if (code !== '0') {
    const isNotFound = kind === 'payout' && NOT_FOUND.test(words);
    const verdict: CallbackNews = isNotFound
      ? { outcome: 'notFound', settlingWindowMs }
      : { outcome: 'pending' };
    return { reference: null, verdict };
  }
  const originator = idOf(parameters.get('OriginatorConversationID'));
  const conversation = idOf(parameters.get('ConversationID'));
  return kind === 'payout'
    ? // Our reference proves enough. Nobody says whether the other id is the payment's own.
      { reference: originator, verdict: fateOf(parameters, originator ? null : conversation) }
    : { reference: null, verdict: fateOf(parameters, originator) };
}

/** Reads the answer to a question about a receipt. Any other state than the ends tells nothing. */
export function readReceipt(body: string, kind: GatewayPaymentKind): ParsedCallback | null {
  const result = readResult(body);
  return result && { reference: null, verdict: receiptIn(result, kind) };
}

function receiptIn(
  { code, words, parameters }: DarajaResult,
  kind: GatewayPaymentKind,
): CallbackNews {
  const transId = idOf(parameters.get('ReceiptNo'));
  if (code !== '0') {
    return NOT_FOUND.test(words)
      ? { outcome: 'receipt', transId, told: null }
      : { outcome: 'pending' };
  }
  const state = meaningOf('state', idOf(parameters.get('TransactionStatus')), '')?.class;
  const amountCents = statedCents(parameters.get('Amount'));
  if (state === 'declined') return { outcome: 'receipt', transId, told: null };
  // Without its receipt, nobody knows which transaction it tells of.
  if (state !== 'succeeded' || amountCents === undefined || transId === null) {
    return { outcome: 'pending' };
  }
  const debit = maskedPhoneOf(parameters.get('DebitPartyName'));
  const credit = maskedPhoneOf(parameters.get('CreditPartyName'));
  const originator = idOf(parameters.get('OriginatorConversationID'));
  const account = kind === 'collection' ? debit : credit;
  const told = {
    amountCents,
    // Daraja may name one side twice, and then nobody knows which one it was.
    account: debit === credit ? null : account,
    reference: kind === 'payout' ? originator : null,
    externalRef: kind === 'reversal' || kind === 'return' ? originator : null,
    isOfKind: isOfKind(wordsOf(parameters.get('ReasonType')), kind),
    completedAt: readTime(parameters.get('FinalisedTime')),
  };
  return { outcome: 'receipt', transId, told };
}

/** Daraja's words for the types of transactions. A payout to a customer's phone is no return to it. */
const TYPES: readonly [RegExp, readonly GatewayPaymentKind[]][] = [
  [/\breversal\b/i, ['reversal', 'return']],
  [/^(business|salary|promotion) payment\b/i, ['payout']],
  [/^(customer )?(pay ?bill|buy ?goods|merchant payment)\b/i, ['collection']],
];

function isOfKind(words: string, kind: GatewayPaymentKind): boolean | null {
  const [, kinds] = TYPES.find(([type]) => type.test(words)) ?? [];
  return kinds?.includes(kind) ?? null;
}

function fateOf(parameters: Named, externalRef: string | null): CallbackNews {
  const code = idOf(parameters.get('TransactionStatus')) ?? '';
  const words = wordsOf(parameters.get('TransactionReason'));
  const news = newsOf('state', { code, words }, externalRef, (description) => {
    const amountCents = statedCents(parameters.get('Amount'));
    if (amountCents === undefined) return { outcome: 'pending' };
    return {
      outcome: 'succeeded',
      transId: idOf(parameters.get('ReceiptNo')),
      externalRef,
      amountCents,
      account: null,
      description,
      completedAt: readTime(parameters.get('FinalisedTime')),
      ...chargeIn(parameters),
    };
  });
  // Any other state tells nothing.
  return news.outcome === 'unclear' ? { outcome: 'pending' } : news;
}
