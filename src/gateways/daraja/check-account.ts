import { randomUUID } from 'node:crypto';
import type { CheckAddresses, Finding } from '../gateway.ts';
import { type DarajaAccount, initiatorOf } from './account.ts';
import { checkCallbacks, checkConfiguration, checkHost, ok, warning, wrong } from './checks.ts';
import { accountOf, type DarajaOptions } from './daraja-gateway.ts';
import { BALANCE_PRODUCT, STATEMENT_PRODUCT } from './operations.ts';
import { LISTS_NOTHING, listsAnything } from './pull.ts';
import { askBalance } from './questions.ts';
import { queryStkPush } from './stk-push.ts';
import { askStatus } from './transaction-status.ts';

/** Looks at everything that a shortcode needs, without moving money. */
export async function checkAccount(
  options: DarajaOptions,
  addresses: CheckAddresses | null,
): Promise<Finding[]> {
  const { config } = options;
  const account = accountOf(options);
  const host = await checkHost(config.baseUrl);
  // Without the host every question would fail in the same way.
  const isReached = host.every(({ about, state }) => about !== 'host' || state === 'ok');
  return [
    ...checkConfiguration(config, account.settings),
    ...host,
    ...(await checkCallbacks(config.baseUrl, addresses)),
    ...(isReached ? await checkProducts(account, addresses) : []),
  ];
}

/** Nobody has this prompt. It looks like one of Daraja's, with a day and a phone. */
const NO_PROMPT = 'ws_CO_0101202000000000000000700000000';
const NO_SUCH_PROMPT = /transaction does not exist/i;

/** The meaning of a refusal to an operator, by its words. */
const CAUSES: readonly (readonly [RegExp, string])[] = [
  [
    /no\s*apiproduct\s*match|tokens were refused|403\.001/i,
    'the product is not approved for this app: ask Safaricom to add it',
  ],
  [/wrong credentials/i, 'the passkey does not belong to the shortcode'],
  [
    /merchant does not exist/i,
    'the shortcode is not the one of the go-live: for a till it is the store’s',
  ],
  [
    /invalid (initiator|security ?credential)/i,
    'initiator or credential have the wrong form: encrypt the password with the certificate of this environment',
  ],
  [/spike ?arrest|busy|quota/i, 'Daraja is busy: try again in a minute'],
];

/** Asks each product a question that moves nothing. B2C and reversals have no such question. */
async function checkProducts(
  account: DarajaAccount,
  addresses: CheckAddresses | null,
): Promise<Finding[]> {
  const refusal = await account.client.authenticate();
  if (refusal !== null) return [wrong('credentials', refusal)];
  const { passkey, nominatedNumber } = account.settings;
  return [
    ok('credentials', 'there is an access token'),
    ...(passkey === null ? [] : [await prompts(account)]),
    ...(initiatorOf(account.settings) && addresses
      ? [await balance(account, addresses), await status(account, addresses)]
      : []),
    ...(nominatedNumber === null ? [] : [await statements(account)]),
  ];
}

async function prompts(account: DarajaAccount): Promise<Finding> {
  const question = { kind: 'collection', reference: '', externalRef: NO_PROMPT } as const;
  const answer = await queryStkPush(account, { ...question, callbackUrl: null, timeoutUrl: null });
  // Any answer about the prompt shows that the password was accepted.
  const isRight = answer.outcome !== 'noAnswer' || NO_SUCH_PROMPT.test(answer.reason);
  const product = 'product M-PESA Express';
  return isRight
    ? ok(product, 'passkey and shortcode are right')
    : wrong(product, explained(answer.reason));
}

/** Only the callback tells whether the initiator is right. */
async function balance(account: DarajaAccount, addresses: CheckAddresses): Promise<Finding> {
  const urls = { resultUrl: addresses.float, timeoutUrl: addresses.floatTimeout };
  const answer = await askBalance(account, urls);
  return takenOrNot(BALANCE_PRODUCT, answer.outcome === 'asked' ? null : answer.reason);
}

async function status(account: DarajaAccount, { unread }: CheckAddresses): Promise<Finding> {
  const question = { kind: 'payout', reference: randomUUID(), externalRef: null } as const;
  const urls = { callbackUrl: unread, timeoutUrl: unread };
  const answer = await askStatus(account, { ...question, ...urls });
  const reason = answer.outcome === 'noAnswer' ? answer.reason : null;
  return takenOrNot('product Transaction Status', reason);
}

function takenOrNot(product: string, reason: string | null): Finding {
  return reason === null ? ok(product, 'took the question') : wrong(product, explained(reason));
}

async function statements(account: DarajaAccount): Promise<Finding> {
  const answer = await listsAnything(account);
  if (answer === true) return ok(STATEMENT_PRODUCT, 'gives statements');
  if (answer === false) return warning(STATEMENT_PRODUCT, LISTS_NOTHING);
  const advice = 'Was it registered (malipo daraja register)?';
  return wrong(STATEMENT_PRODUCT, `${explained(answer)}. ${advice}`);
}

function explained(reason: string): string {
  const [, cause] = CAUSES.find(([words]) => words.test(reason)) ?? [];
  return cause ? `${cause} (${reason})` : `an answer that is not known: ${reason}`;
}
