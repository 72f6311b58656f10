import type { PaymentRef } from '../../domain/payments/payment-store.ts';
import { pathTo } from '../routes.ts';

/** A link to a payment, as its merchant names it. */
export function PaymentLink({
  payment,
  ref_no,
}: {
  payment: PaymentRef;
  ref_no?: string | null | undefined;
}) {
  const { kind, merchant_id, id } = payment;
  return (
    <a href={pathTo('payment', { kind, merchant_id, id })}>
      {kind} {ref_no ?? id}
    </a>
  );
}
