import { Refusal } from '../../domain/errors.ts';
import { creatorOf } from '../../domain/identity/asker.ts';
import { listPayments } from '../../domain/payments/list-payments.ts';
import { findPayment, type MerchantPayment } from '../../domain/payments/payment-store.ts';
import { BASE_PATH } from '../base-path.ts';
import type { ApiContext } from '../context.ts';
import { type Endpoint, endpoints } from '../endpoints/endpoints.ts';
import { paymentFilterIn } from '../filters.ts';
import { type Answer, type AuthenticatedCall, mount } from '../middleware/mount.ts';
import { envelopeOf, pageRequestOf } from '../pagination.ts';
import { UUID } from '../schemas/fields.ts';

type Kind = MerchantPayment['kind'];
type PaymentOf<K extends Kind> = Extract<MerchantPayment, { kind: K }>;
type Present<K extends Kind> = (payment: PaymentOf<K>) => object;

/** Serves a list of payments, newest first. The headers of a deprecated list name its successor. */
export function mountList<K extends Kind>(
  context: ApiContext,
  endpoint: Endpoint,
  kind: K,
  present: Present<K>,
): void {
  const { database, config } = context;
  const successor = `${config.publicUrl}${BASE_PATH}${endpoints.listTransactions.path}`;
  const headers: Record<string, string> = endpoint.deprecated
    ? { Deprecation: 'true', Link: `<${successor}>; rel="successor-version"` }
    : {};
  mount(context, endpoint, async ({ caller: { merchant_id }, query }) => {
    const filter = paymentFilterIn(query, endpoint.deprecated ?? false);
    const page = await listPayments(database, kind, merchant_id, filter, pageRequestOf(query));
    return { headers, body: envelopeOf(config, endpoint, query, page, present) };
  });
}

/** Serves one payment by its id, the only parameter of the path. */
export function mountDetail<K extends Kind>(
  context: ApiContext,
  endpoint: Endpoint,
  kind: K,
  present: Present<K>,
): void {
  mount(context, endpoint, async (call) => {
    const { caller, params } = call;
    const [id = ''] = Object.values(params);
    const ref = { kind, merchant_id: caller.merchant_id, id };
    const payment = UUID.test(id) ? await findPayment(context.database, ref) : undefined;
    if (!payment) throw new Refusal('transaction_not_found');
    return answerDetail(context, call, payment as PaymentOf<K>, present);
  });
}

/** Answers with one payment by itself. The merchant's Administrators also see who asked for it. */
export async function answerDetail<Payment extends MerchantPayment>(
  { database }: ApiContext,
  { caller }: AuthenticatedCall,
  payment: Payment,
  present: (payment: Payment) => object,
): Promise<Answer> {
  const created_by = caller.role === 'Admin' ? await creatorOf(database, payment) : null;
  if (created_by === null) return answerWith(payment, present);
  return answerWith(payment, () => ({ ...present(payment), created_by }));
}

/** Answers with a payment, whose id then is in the log lines of the request. */
export function answerWith<Payment extends { id: string }>(
  payment: Payment,
  present: (payment: Payment) => unknown,
): Answer {
  return { body: present(payment), paymentId: payment.id };
}
