import type { PaymentRef } from '../../domain/payments/payment-store.ts';

/** Returns the address of a payment's page. */
export function paymentPath({ kind, merchant_id, id }: PaymentRef): string {
  return `/payments/${kind}/${merchant_id}/${id}`;
}

/** A link to a payment, as its merchant names it. */
export function PaymentLink({ payment, ref_no }: { payment: PaymentRef; ref_no: string | null }) {
  return (
    <a href={paymentPath(payment)}>
      {payment.kind} {ref_no ?? payment.id}
    </a>
  );
}
