import { type Database, inTransaction } from '../../src/connections/database.ts';
import { bookOperatorEntry } from '../../src/domain/wallets/operator-entries.ts';

/** Tops up a payout wallet without an operator. @returns whether this call booked it. */
export async function topUpPayoutWallet(
  database: Database,
  merchantId: number,
  amountCents: number,
  reference: string,
): Promise<boolean> {
  const { repeated } = await inTransaction(database, (trx) =>
    bookOperatorEntry(trx, {
      kind: 'topup',
      wallet: 'payout',
      merchant_id: merchantId,
      amount_cents: amountCents,
      reference,
      reason: 'Top-up',
    }),
  );
  return !repeated;
}
