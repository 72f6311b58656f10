import type { Asked } from '../gateway.ts';
import { type DarajaAccount, initiatorOf, noInitiator } from './account.ts';
import { hear, noAnswer, reasonOf } from './answers.ts';
import { centsOf, idOf, readResult, wordsOf } from './messages.ts';

/**
 * The questions for a shortcode's balances, answered by a callback, and for the name of a payee.
 */

const BALANCE_PATH = 'mpesa/accountbalance/v1/query';
/** Daraja's code for the shortcode of an organisation. */
const SHORTCODE_IDENTIFIER = '4';

/** One account of a shortcode. Amounts are cents, and may be negative. */
export interface AccountBalance {
  name: string;
  currency: string;
  currentCents: number;
  availableCents: number;
  reservedCents: number;
  unclearedCents: number;
}

/** The addresses for the answer, and for "not answered in time". Never log them. */
export interface AnswerAddresses {
  resultUrl: string;
  timeoutUrl: string;
}

/** Asks for the balances. `readBalance` reads the answer that comes to `resultUrl`. */
export async function askBalance(
  { client, pace, settings }: DarajaAccount,
  { resultUrl, timeoutUrl }: AnswerAddresses,
): Promise<Asked> {
  const initiator = initiatorOf(settings);
  if (!initiator) return noAnswer(noInitiator(settings));
  const answer = await client.post(BALANCE_PATH, {
    Initiator: initiator.name,
    SecurityCredential: initiator.credential,
    CommandID: 'AccountBalance',
    PartyA: settings.shortcode,
    IdentifierType: SHORTCODE_IDENTIFIER,
    Remarks: 'Balance',
    QueueTimeOutURL: timeoutUrl,
    ResultURL: resultUrl,
  });
  if (answer.outcome !== 'answered') return noAnswer(answer.reason);
  const heard = hear('question', answer, pace);
  return heard.isTaken ? { outcome: 'asked' } : noAnswer(reasonOf(heard));
}

/** Reads the balances of a callback. Returns null for a failed question and for anything else. */
export function readBalance(body: string): AccountBalance[] | null {
  const result = readResult(body);
  if (result?.code !== '0') return null;
  const balance = result.parameters.get('AccountBalance');
  if (typeof balance !== 'string') return null;
  const accounts = balance.split('&').map(readAccount);
  return accounts.every((account) => account !== null) ? accounts : null;
}

/** Reads `Utility Account|KES|228037.00|228037.00|0.00|0.00`. */
function readAccount(text: string): AccountBalance | null {
  const [name, currency, ...amounts] = text.split('|');
  const [current, available, reserved, uncleared] = amounts.map(centsOf);
  if (amounts.length !== 4 || !name || idOf(currency) === null) return null;
  if (current == null || available == null || reserved == null || uncleared == null) return null;
  return {
    name: wordsOf(name),
    currency: wordsOf(currency),
    currentCents: current,
    availableCents: available,
    reservedCents: reserved,
    unclearedCents: uncleared,
  };
}

const PAYEE_PATH = 'sfcverify/v1/query/info';
const IDENTIFIER_TYPES = { till: '2', paybill: '4' } as const;
const PAYEE_FOUND = '4000';

export type PayeeType = keyof typeof IDENTIFIER_TYPES;
export type PayeeName =
  | { outcome: 'named'; name: string }
  | { outcome: 'noAnswer'; reason: string };

/** Asks for the name of the organisation behind a till or PayBill number. */
export async function payeeName(
  { client, pace }: Pick<DarajaAccount, 'client' | 'pace'>,
  type: PayeeType,
  number: string,
): Promise<PayeeName> {
  const question = { IdentifierType: IDENTIFIER_TYPES[type], Identifier: number };
  const answer = await client.post(PAYEE_PATH, question);
  if (answer.outcome !== 'answered') return noAnswer(answer.reason);
  const heard = hear('question', answer, pace);
  const { OrganizationName, OrganizationShortCode } = heard.fields;
  const name = wordsOf(OrganizationName);
  const isAnother = type === 'paybill' && (idOf(OrganizationShortCode) ?? number) !== number;
  const isNamed = heard.status === 200 && heard.code === PAYEE_FOUND && name !== '' && !isAnother;
  return isNamed ? { outcome: 'named', name } : noAnswer(reasonOf(heard));
}
