import { Refusal } from '../../domain/errors.ts';
import { listPayments } from '../../domain/payments/list-payments.ts';
import type { MerchantPayment } from '../../domain/payments/payment-store.ts';
import { findPayment } from '../../domain/payments/payment-store.ts';
import { addLogContext } from '../../process/logger.ts';
import { BASE_PATH } from '../base-path.ts';
import type { ApiContext } from '../context.ts';
import { type Endpoint, endpoints } from '../endpoints.ts';
import { deprecatedFilterIn, paymentFilterIn } from '../filters.ts';
import type { Answer, AuthenticatedCall } from '../middleware/mount.ts';
import { envelopeOf, pageRequestOf } from '../pagination.ts';

/** What reading payments is like, whatever their kind. */

type Kind = MerchantPayment['kind'];
type Of<K extends Kind> = Extract<MerchantPayment, { kind: K }>;
type Reader = (call: AuthenticatedCall) => Promise<Answer>;

/** A page of a newer list. */
export function listReader<K extends Kind>(
  { database, config }: ApiContext,
  kind: K,
  { path }: Endpoint,
  present: (payment: Of<K>) => unknown,
  filterIn = paymentFilterIn,
): Reader {
  return async ({ caller, query }) => {
    const request = pageRequestOf(query);
    const page = await listPayments(database, kind, caller.merchant_id, filterIn(query), request);
    return { body: envelopeOf(config.publicUrl, path, query, page, present) };
  };
}

/** A page of a deprecated list, which says what replaces it. */
export function deprecatedListReader<K extends Kind>(
  context: ApiContext,
  kind: K,
  endpoint: Endpoint,
  present: (payment: Of<K>) => unknown,
): Reader {
  const read = listReader(context, kind, endpoint, present, deprecatedFilterIn);
  const successor = `${context.config.publicUrl}${BASE_PATH}${endpoints.listTransactions.path}`;
  const headers = { Deprecation: 'true', Link: `<${successor}>; rel="successor-version"` };
  return async (call) => ({ ...(await read(call)), headers });
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** One payment by its id, which the path has under this name. @throws Refusal `transaction_not_found` */
export function detailReader<K extends Kind>(
  { database }: ApiContext,
  kind: K,
  parameter: string,
  present: (payment: Of<K>) => unknown,
): Reader {
  return async ({ caller, params }) => {
    const id = params[parameter] ?? '';
    const payment = UUID.test(id)
      ? await findPayment(database, { kind, merchant_id: caller.merchant_id, id })
      : undefined;
    if (!payment) throw new Refusal('transaction_not_found');
    addLogContext({ payment_id: payment.id });
    return { body: present(payment as Of<K>) };
  };
}
