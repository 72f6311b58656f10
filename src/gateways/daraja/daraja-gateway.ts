import type { AmountRule } from '../../domain/channels/channel.ts';
import { DAY_MS } from '../../time.ts';
import type {
  CallbackOrigin,
  FloatWatch,
  Gateway,
  KnownTimes,
  ParsedCallback,
  ReceiptQuestion,
  SubAccount,
  ToldBalance,
} from '../gateway.ts';
import type { Pace } from '../pace.ts';
import { type DarajaAccount, type DarajaClient, initiatorOf } from './account.ts';
import { readB2cResult, submitB2c } from './b2c.ts';
import { readResult } from './messages.ts';
import { pullStatement } from './pull.ts';
import { askBalance, readBalance } from './questions.ts';
import { readReversalResult, submitReversal } from './reversal.ts';
import type { DarajaConfig, DarajaShortcode } from './settings.ts';
import { queryStkPush, readStkCallback, submitStkPush } from './stk-push.ts';
import { askReceipt, askStatus, readReceipt, readStatusResult } from './transaction-status.ts';

export interface DarajaOptions {
  /** One of the configured shortcodes. */
  shortcode: string;
  config: DarajaConfig;
  client: DarajaClient;
  pace: Pace;
}

interface DarajaGatewayOptions extends DarajaOptions {
  /** The time after a submission in which "not found" proves nothing. */
  settlingWindowMs: number;
  /** The time in which the answer to a question about a payout or reversal comes. */
  answerWindowMs: number;
}

/** Daraja's limits: whole shillings, at most KES 250,000. */
const COLLECTION_AMOUNTS: AmountRule = { minCents: 1_00, maxCents: 250_000_00, stepCents: 1_00 };
const PAYOUT_AMOUNTS: AmountRule = { ...COLLECTION_AMOUNTS, minCents: 10_00 };

/**
 * Creates the driver of one shortcode at Safaricom's Daraja. Collections are prompts, payouts are
 * B2C. Only payouts may be sent again, because only they carry a reference of ours.
 */
export function createDarajaGateway(options: DarajaGatewayOptions): Gateway {
  const { shortcode, config, pace, settlingWindowMs, answerWindowMs } = options;
  const account = accountOf(options);
  const { settings } = account;
  return {
    name: nameOf(shortcode),
    resubmit: (kind) => (kind === 'payout' ? 'safe' : 'never'),
    settlingWindowMs,
    answerWindowMs,
    amounts: amountsOf(settings),
    pace,
    submit: (request) => {
      if (request.kind === 'collection') return submitStkPush(account, request);
      if (request.kind === 'payout') return submitB2c(account, request);
      return submitReversal(account, request);
    },
    query: (request) =>
      request.kind === 'collection' ? queryStkPush(account, request) : askStatus(account, request),
    ...(initiatorOf(settings) && {
      askReceipt: (question: ReceiptQuestion) => askReceipt(account, question),
    }),
    ...(settings.nominatedNumber !== null && {
      statement: (start: Date, end: Date, known?: KnownTimes) =>
        pullStatement(account, start, end, known),
      statementCovers: ['collection'] as const,
    }),
    float: floatOf(account),
    passwordEndsAt: settings.passwordSetOn && passwordEnd(settings.passwordSetOn),
    parseCallback: (body, origin) =>
      parseCallback(body, origin, config.confirmAboveCents, settlingWindowMs),
  };
}

/** Returns the name under which payments keep the account of a shortcode. */
export function nameOf(shortcode: string): string {
  return `daraja-${shortcode}`;
}

/** The number of days after which Safaricom ends the password of an initiator. */
const PASSWORD_DAYS = 90;

/** Returns when a password ends. */
export function passwordEnd(setOn: Date): Date {
  return new Date(setOn.getTime() + PASSWORD_DAYS * DAY_MS);
}

/** The names of a shortcode's accounts. Payments move the money of `utility`; a till has a merchant account. */
const SUB_ACCOUNTS: readonly [RegExp, SubAccount][] = [
  [/utility|merchant/i, 'utility'],
  [/working|mmf/i, 'working'],
  [/charges/i, 'charges'],
];

function floatOf(account: DarajaAccount): FloatWatch | undefined {
  if (!initiatorOf(account.settings)) return undefined;
  return {
    alertBelowCents: account.settings.floatAlertBelowCents,
    ask: async (resultUrl, timeoutUrl) => {
      const answer = await askBalance(account, { resultUrl, timeoutUrl });
      return answer.outcome === 'asked' ? null : answer.reason;
    },
    read: (body) => {
      const told = SUB_ACCOUNTS.flatMap(([named, sub_account]): ToldBalance[] => {
        const found = readBalance(body)?.find(({ name }) => named.test(name));
        if (!found) return [];
        const { currentCents: current_cents, availableCents: available_cents } = found;
        return [{ sub_account, current_cents, available_cents }];
      });
      return told.some(({ sub_account }) => sub_account === 'utility') ? told : null;
    },
  };
}

export function accountOf({ shortcode, config, client, pace }: DarajaOptions): DarajaAccount {
  const settings = config.shortcodes.get(shortcode);
  if (!settings) throw new Error(`The shortcode ${shortcode} is not configured`);
  return { client, pace, settings };
}

function amountsOf(settings: DarajaShortcode): Gateway['amounts'] {
  return {
    ...(settings.passkey !== null && { collection: COLLECTION_AMOUNTS }),
    ...(initiatorOf(settings) && { payout: PAYOUT_AMOUNTS }),
  };
}

/** The same body may come to each address, so the address decides what it means. */
function parseCallback(
  body: string,
  { address, kind }: CallbackOrigin,
  confirmAboveCents: number | null,
  settlingWindowMs: number,
): ParsedCallback | null {
  if (address === 'receipt') return readReceipt(body, kind);
  if (kind === 'collection') {
    return address === 'result' ? readStkCallback(body, confirmAboveCents) : null;
  }
  if (address === 'answer') return readStatusResult(body, kind, settlingWindowMs);
  if (address === 'timeout') {
    return readResult(body) && { reference: null, verdict: { outcome: 'pending' } };
  }
  return kind === 'payout' ? readB2cResult(body) : readReversalResult(body);
}
