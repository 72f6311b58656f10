import { type AnyPayment, accountOf } from '../../domain/payments/payment-store.ts';
import { MerchantLink } from '../shell/merchant-link.tsx';
import { Money } from '../shell/money.tsx';
import { Time } from '../shell/time.tsx';
import type { Veil } from '../shell/veil.ts';

/** What a payment is, and what it is known by. */
export function Facts({ payment, veil }: { payment: AnyPayment; veil: Veil }) {
  const { kind, merchant_id, amount_cents, channel, gateway, reference } = payment;
  const { trans_id, external_ref, created_at, deadline_at, id } = payment;
  const { result_code, result_description } = payment;
  return (
    <dl>
      <dt>Amount</dt>
      <dd>
        <Money cents={amount_cents} />
      </dd>
      <dt>{kind === 'collection' ? 'From' : 'To'}</dt>
      <dd>{veil.account(accountOf(payment))}</dd>
      <dt>Merchant</dt>
      <dd>
        <MerchantLink merchant_id={merchant_id} />
      </dd>
      <dt>Channel</dt>
      <dd>
        {channel}, by {gateway}
      </dd>
      <dt>Id</dt>
      <dd>{id}</dd>
      <dt>Our reference</dt>
      <dd>{reference}</dd>
      <dt>Gateway’s reference</dt>
      <dd>{external_ref ?? 'not known'}</dd>
      <dt>Receipt</dt>
      <dd>{trans_id ?? 'none'}</dd>
      {result_code !== null && (
        <>
          <dt>Result</dt>
          <dd>
            {result_code}: {veil.text(result_description ?? 'no words')}
          </dd>
        </>
      )}
      <dt>Asked for</dt>
      <dd>
        <Time at={created_at} />
      </dd>
      <dt>Deadline</dt>
      <dd>
        <Time at={deadline_at} />
      </dd>
    </dl>
  );
}
