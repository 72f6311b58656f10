import { v7 as uuidv7 } from 'uuid';
import { type Database, firstRow, type Transaction } from '../../connections/database.ts';
import { violates } from '../../connections/database-errors.ts';
import { submissionQueue } from '../../jobs/job-types.ts';
import { refusalOfChannel } from '../channels/channel-store.ts';
import { Refusal } from '../errors.ts';
import { commissionOn, type Rate } from '../money.ts';
import type { Collection } from '../payments/collection.ts';
import { paymentColumns } from '../payments/payment-summary.ts';

export interface NewCollection {
  merchant_id: number;
  payfrom: string;
  amount_cents: number;
  ref_no: string;
  account_number: string;
  callback_url: string;
  channel: number;
  app_code: number;
  /** The driver that serves the channel; stays with the collection even if the channel moves. */
  gateway: string;
  rate: Rate;
  deadline_ms: number;
}

/**
 * Records a collection, its history and its first job in one statement: once this
 * returns, nothing can forget it.
 * @throws Refusal `duplicate_reference`, `wallet_missing`, `channel_paused`
 */
export async function createCollection(
  database: Database | Transaction,
  request: NewCollection,
): Promise<Collection> {
  try {
    const collection = await firstRow<Collection>(database, INSERT, bindingsOf(request));
    if (!collection) throw await refusalOfChannel(database, request.channel, 'wallet_missing');
    return { ...collection, kind: 'collection' };
  } catch (error) {
    if (violates(error, 'collections_ref_no_unique')) throw new Refusal('duplicate_reference');
    throw error;
  }
}

const INSERT = `
  WITH moved AS (
    INSERT INTO collections (merchant_id, id, app_code, channel, gateway, payfrom, amount_cents,
      commission_cents, ref_no, account_number, callback_url, deadline_at,
      next_step, next_step_at, step_no)
    SELECT :merchant_id, :id, :app_code, :channel, :gateway, :payfrom, :amount_cents,
      :commission_cents, :ref_no, :account_number, :callback_url,
      now() + :deadline_ms * interval '1 millisecond', 'submit', now(), 1
    -- Without the wallet that the money is for, nothing is recorded.
    FROM wallets WHERE merchant_id = :merchant_id AND kind = 'collection'
      AND NOT EXISTS (SELECT FROM paused_channels WHERE code = :channel)
    RETURNING *
  ), queued AS (
    INSERT INTO outbox (queue, kind, step, merchant_id, row_id, step_no, run_at)
    SELECT :queue, 'collection', next_step, merchant_id, id, step_no, next_step_at FROM moved
  ), remembered AS (
    INSERT INTO payment_history
      (merchant_id, payment_kind, payment_id, from_status, to_status, cause)
    SELECT merchant_id, 'collection', id, NULL, status, 'api' FROM moved
  )
  SELECT ${paymentColumns('moved')} FROM moved`;

function bindingsOf(request: NewCollection): Record<string, unknown> {
  return {
    merchant_id: request.merchant_id,
    id: uuidv7(),
    app_code: request.app_code,
    channel: request.channel,
    gateway: request.gateway,
    payfrom: request.payfrom,
    amount_cents: request.amount_cents,
    commission_cents: commissionOn(request.amount_cents, request.rate),
    ref_no: request.ref_no,
    account_number: request.account_number,
    callback_url: request.callback_url,
    deadline_ms: request.deadline_ms,
    queue: submissionQueue(request.gateway),
  };
}
