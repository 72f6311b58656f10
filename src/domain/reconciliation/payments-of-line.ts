import { type Database, firstRow, rows } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import type { PaymentRef } from '../payments/payment-store.ts';
import { PAYMENTS_OF_LINES, type StoredLine } from './statement.ts';

export interface PaymentsOfLine {
  /** The payment that the line is about, if any. */
  payment: PaymentRef | undefined;
  /** Another payment that has the line's receipt. Then the line contradicts itself. */
  receiptOf: PaymentRef | undefined;
}

/** Finds the payments of a line by our reference, the gateway's reference or a known receipt. */
export async function findPaymentsOf(
  database: Database,
  gateway: string,
  line: Pick<StoredLine, 'kind' | 'reference' | 'trans_id'>,
): Promise<PaymentsOfLine> {
  const kinds = PAYMENTS_OF_LINES[line.kind];
  const named = await findByReference(database, kinds, gateway, line.reference);
  const booked = await findByReceipt(database, gateway, line.trans_id);
  if (!named) {
    return { payment: booked.find(({ kind }) => kinds.includes(kind)), receiptOf: undefined };
  }
  const isItsOwn = booked.some(({ kind, id }) => kind === named.kind && id === named.id);
  return { payment: named, receiptOf: isItsOwn ? undefined : booked[0] };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

async function findByReference(
  database: Database,
  kinds: readonly GatewayPaymentKind[],
  gateway: string,
  reference: string | null,
): Promise<PaymentRef | undefined> {
  if (reference === null) return undefined;
  for (const kind of kinds) {
    const row = await firstRow<Omit<PaymentRef, 'kind'>>(
      database,
      `SELECT p.merchant_id, p.id FROM ${paymentsNamed(kind, reference)}
         AND p.gateway = :gateway`,
      { reference, gateway },
    );
    if (row) return { ...row, kind };
  }
  return undefined;
}

/** SQL: the payments `p` of a kind whose id, or else the gateway's reference, is `:reference`. */
function paymentsNamed(kind: GatewayPaymentKind, reference: string): string {
  const { table } = STEP_TABLES[kind];
  if (!UUID.test(reference)) return `${table} p WHERE p.external_ref = :reference`;
  return `${table} p WHERE p.reference = CAST(:reference AS uuid)`;
}

async function findByReceipt(database: Database, gateway: string, trans_id: string | null) {
  if (trans_id === null) return [];
  return rows<PaymentRef>(
    database,
    `SELECT payment_kind AS kind, merchant_id, payment_id AS id FROM movements
     WHERE trans_id = :trans_id AND gateway = :gateway ORDER BY learned_at, payment_id`,
    { trans_id, gateway },
  );
}
