import { v7 as uuidv7 } from 'uuid';
import { firstRow, rows, type Transaction } from '../../connections/database.ts';
import { violates } from '../../connections/database-errors.ts';
import { Refusal } from '../errors.ts';
import { postJournal } from '../ledger/post-journal.ts';
import { TRANSACTION_COLUMNS, type WalletTransaction } from './list-transactions.ts';

/**
 * Moves money from a merchant's collection wallet to its payout wallet.
 * @returns the transaction of the collection wallet.
 * @throws Refusal `wallet_missing`, `insufficient_balance`, `duplicate_reference`
 */
export async function transfer(
  trx: Transaction,
  merchantId: number,
  amountCents: number,
  refNo: string,
): Promise<WalletTransaction> {
  const id = await insertTransfer(trx, merchantId, amountCents, refNo);
  const balances = await lockWallets(trx, merchantId);
  if (balances.length !== 2) throw new Refusal('wallet_missing');
  if (balances[0]!.balance_cents < amountCents) {
    throw new Refusal('insufficient_balance', 'collection');
  }
  const label = { type: 'transfer', ref_no: refNo, counterparty: null } as const;
  await postJournal(trx, {
    merchant_id: merchantId,
    source_kind: 'transfer',
    source_id: id,
    kind: 'transfer',
    lines: [
      {
        account: 'wallet:collection',
        amount_cents: -amountCents,
        transaction: { ...label, description: 'Transfer to the payout wallet' },
      },
      {
        account: 'wallet:payout',
        amount_cents: amountCents,
        transaction: { ...label, description: 'Transfer from the collection wallet' },
      },
    ],
  });
  return transactionOf(trx, merchantId, id);
}

async function insertTransfer(
  trx: Transaction,
  merchantId: number,
  amountCents: number,
  refNo: string,
): Promise<string> {
  const id = uuidv7();
  try {
    await rows(
      trx,
      `INSERT INTO transfers (merchant_id, id, amount_cents, ref_no)
       VALUES (:merchant_id, :id, :amount_cents, :ref_no)`,
      { merchant_id: merchantId, id, amount_cents: amountCents, ref_no: refNo },
    );
    return id;
  } catch (error) {
    if (violates(error, 'transfers_ref_no_unique')) throw new Refusal('duplicate_reference');
    throw error;
  }
}

/** Collection wallet before payout wallet: the order in which everybody locks them. */
async function lockWallets(
  trx: Transaction,
  merchantId: number,
): Promise<{ balance_cents: number }[]> {
  return rows(
    trx,
    `SELECT balance_cents FROM wallets WHERE merchant_id = :merchant_id
     ORDER BY kind FOR UPDATE`,
    { merchant_id: merchantId },
  );
}

async function transactionOf(
  trx: Transaction,
  merchantId: number,
  transferId: string,
): Promise<WalletTransaction> {
  const transaction = await firstRow<WalletTransaction>(
    trx,
    `SELECT ${TRANSACTION_COLUMNS} FROM journals j JOIN entries listed
       ON listed.merchant_id = j.merchant_id AND listed.journal_id = j.id
     WHERE j.merchant_id = :merchant_id AND j.source_kind = 'transfer' AND j.source_id = :id
       AND listed.account = 'wallet:collection'`,
    { merchant_id: merchantId, id: transferId },
  );
  return transaction!;
}
