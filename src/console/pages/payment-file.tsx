import { validate as isUuid } from 'uuid';
import type { GatewayPaymentKind } from '../../domain/gateway-results.ts';
import type { PaymentRef } from '../../domain/payments/payment-store.ts';
import { PAYMENT_KINDS } from '../../domain/payments/payment-summary.ts';
import { type Approval, openApprovalsAbout } from '../../domain/staff/approval-store.ts';
import { type PaymentFile, readPaymentFile } from '../../domain/support/payment-file.ts';
import { discrepancySubject } from '../../operations/discrepancy.ts';
import { recordView } from '../access/audit.ts';
import { ConsoleError, type Visit } from '../visit.ts';

const MERCHANT_ID = /^\d{1,15}$/;

/** Returns the payment that the address names. @throws ConsoleError when it names none */
export function refIn({ params }: Pick<Visit, 'params'>): PaymentRef {
  const { kind = '', merchant_id = '', id = '' } = params;
  const isKind = (PAYMENT_KINDS as readonly string[]).includes(kind);
  if (!isKind || !MERCHANT_ID.test(merchant_id) || !isUuid(id)) throw unknownPayment();
  return { kind: kind as GatewayPaymentKind, merchant_id: Number(merchant_id), id };
}

/** The file of a payment, with the requests for decisions about it that wait for a second person. */
export interface FileWithRequests extends PaymentFile {
  requests: Approval[];
}

/** Reads the file of the payment that the address names. @throws ConsoleError without one */
export async function fileOf(visit: Visit): Promise<FileWithRequests> {
  const { database } = visit.service;
  const file = await readPaymentFile(database, refIn(visit));
  if (!file) throw unknownPayment();
  const subjects = file.discrepancies.map(({ id }) => discrepancySubject(id));
  const requests = await openApprovalsAbout(database, 'discrepancy.resolve', subjects);
  return { ...file, requests };
}

function unknownPayment(): ConsoleError {
  return new ConsoleError(404, 'There is no such payment. Look for it with the search');
}

declare module 'express-session' {
  interface SessionData {
    /** The payments that the member has opened last. */
    seen: string[];
  }
}

/** The most payments that a session remembers. It records a forgotten one again. */
const MAX_SEEN = 50;

/**
 * Writes into the audit log that the member sees a payment.
 * @param isNew is false for a page that belongs to one which the member has opened: the same
 * payment again is no new read
 */
export async function recordPaymentView(
  visit: Visit,
  { payment }: { payment: PaymentRef },
  { isNew = false, action = 'payment.show' } = {},
): Promise<void> {
  const { session } = visit.req;
  const { merchant_id, kind, id } = payment;
  const subject = `${kind} ${id}`;
  const seen = session.seen ?? [];
  if (!isNew && seen.includes(subject)) return;
  await recordView(visit, { action, merchant_id, subject, lookedFor: {}, rows: 1 });
  if (!seen.includes(subject)) session.seen = [...seen, subject].slice(-MAX_SEEN);
}
