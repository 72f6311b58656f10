import { v7 as uuidv7 } from 'uuid';
import { firstRow, rows, type Transaction } from '../../connections/database.ts';
import { violates } from '../../connections/database-errors.ts';
import { ASKER_COLUMNS, ASKER_VALUES, type Asker } from '../access/asker.ts';
import { Refusal } from '../errors.ts';
import { postJournal } from '../ledger/post-journal.ts';
import { TRANSACTION_COLUMNS, type WalletTransaction } from './list-transactions.ts';

export interface NewTransfer extends Asker {
  merchant_id: number;
  amount_cents: number;
  ref_no: string;
}

/**
 * Moves money from a merchant's collection wallet to its payout wallet.
 * @returns the transaction of the collection wallet.
 * @throws Refusal `wallet_missing`, `insufficient_balance`, `duplicate_ref_no`
 */
export async function transfer(trx: Transaction, request: NewTransfer): Promise<WalletTransaction> {
  const { merchant_id, amount_cents, ref_no } = request;
  const id = await insertTransfer(trx, request);
  // Locks the collection wallet before the payout wallet, as everything does that locks both.
  const [collection, payout] = await rows<{ balance_cents: number }>(
    trx,
    `SELECT balance_cents FROM wallets WHERE merchant_id = :merchant_id
     ORDER BY kind FOR UPDATE`,
    request,
  );
  if (!collection || !payout) throw new Refusal('wallet_missing');
  if (collection.balance_cents < amount_cents) {
    throw new Refusal('insufficient_balance', 'collection');
  }
  const label = { type: 'transfer', ref_no, counterparty: null } as const;
  await postJournal(trx, {
    merchant_id,
    source_kind: 'transfer',
    source_id: id,
    kind: 'transfer',
    lines: [
      {
        account: 'wallet:collection',
        amount_cents: -amount_cents,
        transaction: { ...label, description: 'Transfer to the payout wallet' },
      },
      {
        account: 'wallet:payout',
        amount_cents,
        transaction: { ...label, description: 'Transfer from the collection wallet' },
      },
    ],
  });
  return transactionOf(trx, { merchant_id, id });
}

async function insertTransfer(trx: Transaction, request: NewTransfer): Promise<string> {
  const id = uuidv7();
  try {
    await rows(
      trx,
      `INSERT INTO transfers (merchant_id, id, amount_cents, ref_no, ${ASKER_COLUMNS})
       VALUES (:merchant_id, :id, :amount_cents, :ref_no, ${ASKER_VALUES})`,
      { ...request, id },
    );
    return id;
  } catch (error) {
    if (violates(error, 'transfers_ref_no_unique')) throw new Refusal('duplicate_ref_no');
    throw error;
  }
}

async function transactionOf(
  trx: Transaction,
  ref: { merchant_id: number; id: string },
): Promise<WalletTransaction> {
  const transaction = await firstRow<WalletTransaction>(
    trx,
    `SELECT ${TRANSACTION_COLUMNS} FROM journals j JOIN entries listed
       ON listed.merchant_id = j.merchant_id AND listed.journal_id = j.id
     WHERE j.merchant_id = :merchant_id AND j.source_kind = 'transfer' AND j.source_id = :id
       AND listed.account = 'wallet:collection'`,
    ref,
  );
  return transaction!;
}
