import type { DarajaAccount } from './account.ts';
import { hear, noAnswer, reasonOf } from './answers.ts';
import { idOf, wordsOf } from './messages.ts';

const PATH = 'sfcverify/v1/query/info';
const IDENTIFIER_TYPES = { till: '2', paybill: '4' } as const;
const SUCCESS = '4000';

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
  const answer = await client.post(PATH, question);
  if (answer.outcome !== 'answered') return noAnswer(answer.reason);
  const heard = hear('question', answer, pace);
  const { OrganizationName, OrganizationShortCode } = heard.fields;
  const name = wordsOf(OrganizationName);
  const isAnother = type === 'paybill' && (idOf(OrganizationShortCode) ?? number) !== number;
  const isNamed = heard.status === 200 && heard.code === SUCCESS && name !== '' && !isAnother;
  return isNamed ? { outcome: 'named', name } : noAnswer(reasonOf(heard));
}
