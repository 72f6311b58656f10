import { got } from 'got';
import { type Database, hasRow, rows } from '../../../src/connections/database.ts';
import { openOverdue } from '../../../src/domain/discrepancies/overdue.ts';
import type { PaymentStatus } from '../../../src/domain/payments/payment.ts';
import { UNANSWERED } from '../../simulator/behaviours.ts';
import type { SandboxMerchant } from '../seed.ts';
import { until } from './until.ts';

/** Every payment in trouble goes this way: the phones are Airtel's. */
export const AIRTEL_MONEY = 63903;
export const GATEWAY = 'simulator';
/** Nobody listens there: the merchant's server is down. */
/** Nothing listens there. The console hides ports of one digit, as parts of phones. */
const DEAD_SERVER = 'http://127.0.0.1:19';
/** The failures in a row that, with one more, hold an endpoint. */
const UNHEARD_COUNT = 6;

/**
 * Payments of a merchant whose server is down. The last digits of the phones tell the simulator
 * what to do: docs/sandbox.md has the table.
 */
const COLLECTIONS: readonly Wanted[] = [
  ...Array.from({ length: UNHEARD_COUNT }, (_, index) => ({
    ref_no: `shida-unheard-${index + 1}`,
    phone: `+25473300020${index}`,
    amount: '750.00',
  })),
  { ref_no: 'shida-late', phone: '+254733000107', amount: '1200.00' },
  { ref_no: 'shida-half', phone: '+254733000111', amount: '900.00' },
];
const PAYOUTS: readonly Wanted[] = [
  // More than one person may decide about alone.
  { ref_no: 'shida-refunded', phone: '+254733001107', amount: '120000.00' },
  { ref_no: 'shida-overdue', phone: UNANSWERED, amount: '4500.00' },
];

/** A merchant with its app. */
type Troubled = Omit<SandboxMerchant, 'users'>;

interface Wanted {
  ref_no: string;
  phone: string;
  amount: string;
}

/** Asks for payments that do not end well, and waits until all of them have gone wrong. */
export async function makeTroubledPayments(
  baseUrl: string,
  { database, owner }: { database: Database; owner: Database },
  merchant: Troubled,
): Promise<void> {
  const api = await apiOf(baseUrl, merchant);
  const common = { callback_url: `${DEAD_SERVER}/webhooks`, app_code: merchant.app_code };
  await Promise.all([
    ...COLLECTIONS.map(({ phone, ...wanted }) => {
      const json = { ...common, ...wanted, payfrom: phone, account_number: 'INV-7' };
      return api.post('collections/checkouts/initiate', { json });
    }),
    ...PAYOUTS.map(({ phone, ...wanted }) =>
      api.post('payouts/initiate', { json: { ...common, ...wanted, payto: phone } }),
    ),
  ]);
  await until('The acknowledgement of a payout', () =>
    hasPayout(database, merchant, 'shida-overdue', 'processing'),
  );
  await makeOverdue(owner, merchant, 'shida-overdue');
  await openOverdue(database);
  for (const kind of ['overdue', 'other_amount']) {
    await until(`The discrepancy ${kind}`, () => isOpen(database, merchant, kind));
  }
  await until(
    'The late success of a payout',
    async () =>
      (await isOpen(database, merchant, 'paid_after_refund')) ||
      // A slow refund comes too late: the payout has completed, as it should, and is no trouble.
      hasPayout(database, merchant, 'shida-refunded', 'completed'),
  );
  await until('The failure of an endpoint', () =>
    hasRow(
      database,
      `SELECT FROM webhook_endpoints WHERE merchant_id = :merchant_id AND breaker = 'open'`,
      { merchant_id: merchant.merchant_id },
    ),
  );
}

async function apiOf(baseUrl: string, { app_key, app_secret }: Troubled) {
  const api = got.extend({ prefixUrl: baseUrl, retry: { limit: 0 } });
  const { access } = await api
    .post('auth/app/token', { json: { app_key, app_secret } })
    .json<{ access: string }>();
  return api.extend({ headers: { authorization: `Bearer ${access}` } });
}

/**
 * A payout has hours before it is overdue. So its deadline is moved to the past. The dispatcher
 * finds it then: here its round is run at once, because the next may be seconds away.
 */
async function makeOverdue(owner: Database, merchant: Troubled, ref_no: string): Promise<void> {
  await rows(
    owner,
    `UPDATE payouts SET deadline_at = created_at + interval '1 millisecond'
     WHERE merchant_id = :merchant_id AND ref_no = :ref_no`,
    { merchant_id: merchant.merchant_id, ref_no },
  );
}

function hasPayout(
  database: Database,
  { merchant_id }: Troubled,
  ref_no: string,
  status: PaymentStatus,
): Promise<boolean> {
  const sql = `SELECT FROM payouts
    WHERE merchant_id = :merchant_id AND ref_no = :ref_no AND status = :status`;
  return hasRow(database, sql, { merchant_id, ref_no, status });
}

function isOpen(database: Database, { merchant_id }: Troubled, kind: string): Promise<boolean> {
  const sql = `SELECT FROM discrepancies
    WHERE merchant_id = :merchant_id AND kind = :kind AND resolved_at IS NULL`;
  return hasRow(database, sql, { merchant_id, kind });
}
