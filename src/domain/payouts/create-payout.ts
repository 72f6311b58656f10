import { v7 as uuidv7 } from 'uuid';
import { type Database, firstRow, hasRow, type Transaction } from '../../connections/database.ts';
import { violates } from '../../connections/database-errors.ts';
import { queueOf } from '../../jobs/job-types.ts';
import { ASKER_COLUMNS, ASKER_VALUES, type Asker } from '../access/asker.ts';
import { type Channel, channelByCode, channelOfPhone } from '../channels/channel.ts';
import { isPausedSql, refusalOfChannel } from '../channels/channel-store.ts';
import { Refusal } from '../errors.ts';
import { KEEPS_ROW, KEY_IS_FREE, type KeyToKeep } from '../idempotency.ts';
import { journalOfMoved, linesBinding } from '../ledger/post-journal.ts';
import { commissionOn, type Rate } from '../money.ts';
import { acceptedLines } from '../payments/journals.ts';
import type { Payout, PayoutCategory } from '../payments/kinds.ts';
import { acceptance } from '../payments/transition.ts';
import { isKenyanMobile } from '../text.ts';

export interface NewPayout extends Asker {
  merchant_id: number;
  app_code: number;
  /** A phone (E.164) or a bank account number. */
  payto: string;
  amount_cents: number;
  ref_no: string;
  category: PayoutCategory;
  narration: string;
  callback_url: string;
  channel: number;
  /** The driver that serves the channel. The payout keeps it even if the channel moves. */
  gateway: string;
  rate: Rate;
  deadline_ms: number;
}

/**
 * Accepts a payout: records it with its debit, journal, history and first job in one
 * statement. So the wallet stays locked for no round trip. A reversal may take the collection wallet below zero:
 * then the payout wallet keeps as much, less the merchant's debt limit.
 * @param key is kept by the same statement, with the row
 * @throws Refusal `duplicate_ref_no`, `insufficient_balance`, `wallet_missing`,
 * `channel_paused`
 */
export async function createPayout(
  database: Database | Transaction,
  request: NewPayout,
  key: KeyToKeep | null = null,
): Promise<Payout> {
  const fee_cents = commissionOn(request.amount_cents, request.rate);
  try {
    const payout = await firstRow<Payout>(database, key ? INSERT_WITH_KEY : INSERT, {
      ...request,
      ...key,
      id: uuidv7(),
      fee_cents,
      queue: queueOf('payout', 'submit', request.gateway),
      journal_id: uuidv7(),
      lines: linesBinding(acceptedLines({ ...request, fee_cents })),
    });
    if (!payout) throw await refusalOf(database, request);
    return payout;
  } catch (error) {
    // The reference at the gateway is made of the ref_no. PostgreSQL names either.
    if (violates(error, 'payouts_ref_no_unique', 'payouts_reference_unique')) {
      throw new Refusal('duplicate_ref_no');
    }
    if (violates(error, 'payout_wallet_not_negative')) {
      throw new Refusal('insufficient_balance', 'payout');
    }
    throw error;
  }
}

/** Explains why the statement has inserted no payout. One that was accepted before is a duplicate. */
async function refusalOf(database: Database | Transaction, request: NewPayout): Promise<Refusal> {
  const known = 'SELECT 1 FROM payouts WHERE merchant_id = :merchant_id AND ref_no = :ref_no';
  if (await hasRow(database, known, request)) return new Refusal('duplicate_ref_no');
  const refusal = await refusalOfChannel(database, 'payout', request.channel, 'wallet_missing');
  if (refusal.code !== 'wallet_missing') return refusal;
  const wallet = await firstRow<{ balance_cents: number }>(
    database,
    `SELECT balance_cents FROM wallets WHERE merchant_id = :merchant_id AND kind = 'payout'`,
    request,
  );
  if (!wallet) return refusal;
  const cost_cents = request.amount_cents + commissionOn(request.amount_cents, request.rate);
  return new Refusal(
    'insufficient_balance',
    wallet.balance_cents < cost_cents ? 'payout' : 'collection',
  );
}

/**
 * SQL: with this payout the merchant `:merchant_id` would owe more than its debt limit: its payout wallet would not
 * hold what its collection wallet lacks, or will lack once its open reversals are done. Payouts of a merchant in debt
 * take turns with its transfers, by the locks of both wallets, in their order. A reversal that is accepted at this moment counts from the next payout on.
 */
const OWES_TOO_MUCH = `EXISTS (SELECT FROM (
       SELECT own.balance_cents + owed.balance_cents - reversed.net_cents + m.debt_limit_cents AS spendable_cents
       FROM wallets owed JOIN merchants m ON m.id = owed.merchant_id
         JOIN wallets own ON own.merchant_id = owed.merchant_id AND own.kind = 'payout'
         CROSS JOIN LATERAL (SELECT coalesce(sum(amount_cents - commission_cents), 0) AS net_cents FROM reversals
           WHERE merchant_id = :merchant_id AND status NOT IN ('completed', 'failed')) reversed
       WHERE owed.merchant_id = :merchant_id AND owed.kind = 'collection'
         AND owed.balance_cents < reversed.net_cents
       -- LIMIT keeps the condition above the locks: the balances count as they are once the locks are there.
       LIMIT 1 FOR NO KEY UPDATE OF owed, own) debt
     WHERE spendable_cents < CAST(:amount_cents AS bigint) + CAST(:fee_cents AS bigint))`;

/**
 * The payout comes first and the wallet joins it, without a condition on the balance: that
 * would commit a payout without its debit. The wallet's own check refuses the whole statement.
 */
const ROW = `INSERT INTO payouts (merchant_id, id, app_code, channel, gateway, payto, amount_cents,
     fee_cents, ref_no, reference, category, narration, callback_url, deadline_at,
     next_step, next_step_at, step_no, ${ASKER_COLUMNS})
   SELECT merchant_id, :id, :app_code, :channel, :gateway, :payto, :amount_cents,
     :fee_cents, :ref_no, gateway_reference(merchant_id, 'payout', :ref_no),
     :category, :narration, :callback_url,
     now() + :deadline_ms * interval '1 millisecond', 'submit', now(), 1,
     ${ASKER_VALUES}
   FROM wallets WHERE merchant_id = :merchant_id AND kind = 'payout'
     AND NOT ${isPausedSql('payout', ':channel')} AND NOT ${OWES_TOO_MUCH}`;
const JOURNAL = journalOfMoved('payout', 'accepted');

const INSERT = acceptance('payout', ROW, [JOURNAL]);
const INSERT_WITH_KEY = acceptance('payout', `${ROW} AND ${KEY_IS_FREE}`, [JOURNAL, KEEPS_ROW]);

/** The longest account numbers are international ones. */
const BANK_ACCOUNT = /^[A-Za-z0-9]{5,34}$/;
/** Kenyan mobile numbers without the plus. They are account numbers only if a bank is named. */
const PHONE_WITHOUT_PLUS = /^(07\d{8}|254[17]\d{8})$/;

/**
 * Returns the problem of a payout's recipient with the channel that the caller named, or null
 * when it is a phone or a bank account.
 */
export function paytoProblem(
  payto: string,
  channelCode: number | undefined,
): 'invalid_phone_number' | 'invalid_field' | null {
  if (isPhone(payto)) {
    const isPayable =
      isKenyanMobile(payto) && (channelCode !== undefined || channelOfPhone(payto) !== null);
    return isPayable ? null : 'invalid_phone_number';
  }
  const isForPhones =
    channelCode === undefined || channelByCode(channelCode)?.type === 'Mobile Money';
  if (isForPhones && PHONE_WITHOUT_PLUS.test(payto)) return 'invalid_phone_number';
  return BANK_ACCOUNT.test(payto) ? null : 'invalid_field';
}

/**
 * Returns the channel of a payout whose recipient is right. The caller's word wins, since
 * numbers are portable. Otherwise the phone's carrier decides.
 * @throws Refusal `channel_required` (a bank account), `invalid_channel` (unknown, or not
 * for this kind of recipient)
 */
export function channelOfPayout(payto: string, channelCode: number | undefined): Channel {
  const code = channelCode ?? (isPhone(payto) ? channelOfPhone(payto) : null);
  if (code === null) throw new Refusal('channel_required');
  const channel = channelByCode(code);
  if (channel?.type !== (isPhone(payto) ? 'Mobile Money' : 'Bank')) {
    throw new Refusal('invalid_channel', String(code));
  }
  return channel;
}

function isPhone(payto: string): boolean {
  return payto.startsWith('+');
}
