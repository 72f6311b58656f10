import type { StatementLine, SubmitRequest, SubmitResult, Verdict } from '../gateway.ts';

const MAX_TEXT_LENGTH = 500;
// PostgreSQL cannot store NUL, and these texts need no other control characters either.
const TEXT = new RegExp(`^\\P{Cc}{1,${MAX_TEXT_LENGTH}}$`, 'u');
const UTC_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z$/;
const SECONDS_LENGTH = 'YYYY-MM-DDTHH:MM:SS'.length;

/** A payment as the simulator shows it. */
export interface SimulatedPayment {
  reference: string;
  verdict: Verdict | { outcome: 'pending' };
}

/** Makes the body of a submission. It carries the callback's address: never log it. */
export function submissionBody(request: SubmitRequest): Record<string, unknown> {
  return {
    reference: request.reference,
    account: request.account,
    amount: formatWireAmount(request.amountCents),
    callback_url: request.callbackUrl,
    channel: request.channel,
    account_number: request.accountNumber,
    narration: request.narration,
    original_trans_id: request.originalTransId,
  };
}

/** Reads the answer to a submission. Returns null when the protocol has no such answer. */
export function readSubmission(status: number, body: unknown): SubmitResult | null {
  if (!isObject(body) || !isText(body.external_ref)) return null;
  const externalRef = body.external_ref;
  if (status === 202 && body.status === 'accepted') return { outcome: 'acknowledged', externalRef };
  if (status !== 200 || body.status !== 'declined') return null;
  const refusal = readRefusal(body);
  return refusal && { outcome: 'declined', ...refusal, externalRef };
}

/** Reads a payment from a query or a callback. Returns null when it is not one. */
export function readPayment(body: unknown): SimulatedPayment | null {
  if (!isObject(body) || !isText(body.reference) || !isText(body.external_ref)) return null;
  const verdict = readVerdict(body, body.external_ref);
  return verdict && { reference: body.reference, verdict };
}

/** Returns true if the simulator itself says that it does not know a reference. */
export function isNotFound(body: unknown): boolean {
  return isObject(body) && body.status === 'not_found';
}

/** Reads the lines of a statement, or null when one is wrong: half a statement proves nothing. */
export function readStatement(body: unknown): StatementLine[] | null {
  if (!Array.isArray(body)) return null;
  const lines = body.map(readStatementLine);
  return lines.every((line) => line !== null) ? lines : null;
}

function readStatementLine(body: unknown): StatementLine | null {
  if (!isObject(body) || !isText(body.reference) || !isText(body.account)) return null;
  const { kind, reference, account, trans_id: transId } = body;
  const amountCents = parseWireAmount(body.amount);
  const completedAt = readTime(body.completed_at);
  if (!isText(transId) || amountCents === null || completedAt === null) return null;
  if (kind !== 'collection' && kind !== 'payout' && kind !== 'reversal') return null;
  return { kind, reference, account, amountCents, transId, completedAt };
}

type Fields = Record<string, unknown>;

function readVerdict(body: Fields, externalRef: string): Verdict | { outcome: 'pending' } | null {
  if (body.status === 'pending') return { outcome: 'pending' };
  if (body.status === 'succeeded') return readSuccess(body, externalRef);
  if (body.status !== 'failed') return null;
  const refusal = readRefusal(body);
  return refusal && { outcome: 'failed', ...refusal, externalRef };
}

function readSuccess(body: Fields, externalRef: string): Verdict | null {
  const { trans_id: transId, account, result_description: description } = body;
  const amountCents = parseWireAmount(body.amount);
  const completedAt = readTime(body.completed_at);
  if (body.result_code !== 0 || amountCents === null || completedAt === null) return null;
  if (!isText(transId) || !isText(account) || !isText(description)) return null;
  return {
    outcome: 'succeeded',
    transId,
    externalRef,
    amountCents,
    account,
    description,
    completedAt,
  };
}

function readRefusal(body: Fields): { code: number; description: string } | null {
  const { result_code: code, result_description: description } = body;
  if (!isResultCode(code) || !isText(description)) return null;
  return { code: code as number, description };
}

/** Accepts an integer that is not the code of success and fits into its column. */
function isResultCode(code: unknown): boolean {
  return Number.isInteger(code) && code !== 0 && Math.abs(code as number) <= 2_147_483_647;
}

function readTime(value: unknown): Date | null {
  if (typeof value !== 'string' || !UTC_TIME.test(value)) return null;
  const time = new Date(value);
  if (Number.isNaN(time.getTime())) return null;
  // A Date takes the 30th of February for the 2nd of March.
  return time.toISOString().startsWith(value.slice(0, SECONDS_LENGTH)) ? time : null;
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && TEXT.test(value);
}

const CENTS_PER_SHILLING = 100;
/** At most ten digits of shillings, so that the amount in cents is an exact integer. */
const AMOUNT = /^(?:0|[1-9]\d{0,9})\.\d{2}$/;

/**
 * Writes integer cents as the simulator does: 10000 becomes "100.00".
 * @throws RangeError for anything but a positive integer
 */
export function formatWireAmount(cents: number): string {
  if (!Number.isSafeInteger(cents) || cents <= 0) {
    throw new RangeError(`Not a positive integer of cents: ${cents}`);
  }
  const shillings = Math.trunc(cents / CENTS_PER_SHILLING);
  return `${shillings}.${String(cents % CENTS_PER_SHILLING).padStart(2, '0')}`;
}

/** Reads "100.00" as integer cents. Returns null for any other form, and for 0.00. */
export function parseWireAmount(value: unknown): number | null {
  if (typeof value !== 'string' || !AMOUNT.test(value)) return null;
  const cents = Number(value.replace('.', ''));
  return cents > 0 ? cents : null;
}
