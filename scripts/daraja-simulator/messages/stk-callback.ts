import { wholeShillings } from '../money.ts';
import { compactTime } from '../nairobi-time.ts';
import type { Transaction } from '../transactions.ts';
import { rotated } from './variety.ts';

/** Writes the callback of an STK push. The order of its items varies with `turn`. */
export function stkCallback(transaction: Transaction, turn: number): object {
  const { originatorConversationId, checkoutRequestId, result, status } = transaction;
  const head = {
    MerchantRequestID: originatorConversationId,
    CheckoutRequestID: checkoutRequestId,
    ResultCode: result?.code,
    ResultDesc: result?.description,
  };
  if (status !== 'succeeded') return { Body: { stkCallback: head } };
  const Item = rotated(itemsOf(transaction), turn);
  return { Body: { stkCallback: { ...head, CallbackMetadata: { Item } } } };
}

function itemsOf({ amountCents, receipt, completedAt, phone }: Transaction): object[] {
  return [
    { Name: 'Amount', Value: wholeShillings(amountCents) },
    { Name: 'MpesaReceiptNumber', Value: receipt },
    // Daraja names the balance and does not tell it.
    { Name: 'Balance' },
    { Name: 'TransactionDate', Value: Number(compactTime(completedAt!)) },
    { Name: 'PhoneNumber', Value: Number(phone) },
  ];
}
