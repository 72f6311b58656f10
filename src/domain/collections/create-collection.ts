import { v7 as uuidv7 } from 'uuid';
import { type Database, firstRow, type Transaction } from '../../connections/database.ts';
import { violates } from '../../connections/database-errors.ts';
import { queueOf } from '../../jobs/job-types.ts';
import { ASKER_COLUMNS, ASKER_VALUES, type Asker } from '../access/asker.ts';
import { isPausedSql, refusalOfChannel } from '../channels/channel-store.ts';
import { Refusal } from '../errors.ts';
import { KEEPS_ROW, KEY_IS_FREE, type KeyToKeep } from '../idempotency.ts';
import { commissionOn, type Rate } from '../money.ts';
import type { Collection } from '../payments/kinds.ts';
import { acceptance } from '../payments/transition.ts';

export interface NewCollection extends Asker {
  merchant_id: number;
  payfrom: string;
  amount_cents: number;
  ref_no: string;
  account_number: string;
  callback_url: string;
  channel: number;
  app_code: number;
  /** The driver that serves the channel. The collection keeps it even if the channel moves. */
  gateway: string;
  rate: Rate;
  deadline_ms: number;
}

/**
 * Accepts a collection: records it with its history and first job in one statement.
 * @param key is kept by the same statement, with the row
 * @throws Refusal `duplicate_ref_no`, `wallet_missing`, `channel_paused`
 */
export async function createCollection(
  database: Database | Transaction,
  request: NewCollection,
  key: KeyToKeep | null = null,
): Promise<Collection> {
  try {
    const collection = await firstRow<Collection>(database, key ? INSERT_WITH_KEY : INSERT, {
      ...request,
      ...key,
      id: uuidv7(),
      commission_cents: commissionOn(request.amount_cents, request.rate),
      queue: queueOf('collection', 'submit', request.gateway),
    });
    if (!collection)
      throw await refusalOfChannel(database, 'collection', request.channel, 'wallet_missing');
    return collection;
  } catch (error) {
    // The reference at the gateway is made of the ref_no. PostgreSQL names either.
    if (violates(error, 'collections_ref_no_unique', 'collections_reference_unique')) {
      throw new Refusal('duplicate_ref_no');
    }
    throw error;
  }
}

/** Records nothing without the wallet that the money is for. */
const ROW = `INSERT INTO collections (merchant_id, id, app_code, channel, gateway, payfrom, amount_cents,
     commission_cents, ref_no, reference, account_number, callback_url, deadline_at,
     next_step, next_step_at, step_no, ${ASKER_COLUMNS})
   SELECT :merchant_id, :id, :app_code, :channel, :gateway, :payfrom, :amount_cents,
     :commission_cents, :ref_no, gateway_reference(merchant_id, 'collection', :ref_no),
     :account_number, :callback_url,
     now() + :deadline_ms * interval '1 millisecond', 'submit', now(), 1,
     ${ASKER_VALUES}
   FROM wallets WHERE merchant_id = :merchant_id AND kind = 'collection'
     AND NOT ${isPausedSql('collection', ':channel')}`;

const INSERT = acceptance('collection', ROW);
const INSERT_WITH_KEY = acceptance('collection', `${ROW} AND ${KEY_IS_FREE}`, [KEEPS_ROW]);
