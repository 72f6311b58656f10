import { setTimeout as sleep } from 'node:timers/promises';
import { isOutage, messageOf } from '../connections/database-errors.ts';
import { type AnyPayment, accountOf, type PaymentRef } from '../domain/payments/payment-store.ts';
import { claimSubmission, type SubmissionClaim } from '../domain/submission/claim-submission.ts';
import {
  type NotCalled,
  recordBug,
  recordSubmission,
} from '../domain/submission/record-submission.ts';
import { callbackUrlOf } from '../gateways/callback-address.ts';
import type { SubmitRequest, SubmitResult } from '../gateways/gateway.ts';
import { gatewayNamed } from '../gateways/registry.ts';
import { LastTryError } from '../jobs/failed-jobs.ts';
import { JOB_TRIES } from '../jobs/queues.ts';
import { RECORDING_MARGIN_MS } from '../process/production-rules.ts';
import type { Service } from '../service/service.ts';
import { deadlineIn, isPast } from '../time.ts';

/**
 * Sends one payment to its gateway: claim and commit, call, record and commit. A process
 * that dies in between leaves a claim. The next job asks the gateway, and does not send again.
 * @returns whether there was something to send.
 * @throws CallbackBaseUnknownError before the claim, while a gateway could not call back.
 */
export async function submitPayment(
  service: Service,
  ref: PaymentRef,
  stepNo: number,
): Promise<boolean> {
  const { database, config, logger, gateways, parserOf, callbackBase } = service;
  const base = await callbackBase.require();
  // Read before the claim: after it nothing but the call may fail.
  const merchantName = ref.kind === 'collection' ? await service.merchantName(ref.merchant_id) : '';
  const claim = await claimSubmission(database, ref, stepNo, {
    pollFirstMs: config.pollFirstMs,
    allPaused: config.submissionPaused,
    gateways: [...gateways.keys()],
  });
  if (!claim) return false;
  const gateway = gatewayNamed(gateways, claim.payment.gateway);
  let result: SubmitResult | NotCalled;
  const calledAt = performance.now();
  try {
    const request = requestFor(service, claim.payment, base, merchantName);
    const deadline = deadlineIn(config.gatewayTimeoutMs);
    // The last thing before the call, so that a frozen worker finds out.
    result = isPast(claim.callBefore) ? TOO_OLD : await gateway.submit({ ...request, deadline });
  } catch (bug) {
    throw await afterBug(service, claim, bug);
  }
  const gateway_ms = Math.round(performance.now() - calledAt);
  // The gateway gives its reference only once: it is worth waiting until it can be stored.
  const recording = { pollFirstMs: config.pollFirstMs, parserOf };
  await retryInOutage(() => recordSubmission(database, claim, result, recording));
  if (result.outcome === 'declined') service.bell.ring('deliveries', 'outbox');
  logger.info('submitted', {
    ...namesOf(claim.payment),
    gateway: gateway.name,
    gateway_ms,
    attempt: claim.attemptNo,
    outcome: result.outcome,
    reason: 'reason' in result ? result.reason : undefined,
    trouble: 'operatorTrouble' in result ? result.operatorTrouble : undefined,
  });
  return true;
}

/** Returns the names of a payment for a log line: the merchant's, and the request's that has asked for it. */
export function namesOf(payment: AnyPayment) {
  const { kind, asked_request } = payment;
  // A return has neither: no merchant asked for it.
  return kind === 'return' ? { kind } : { kind, ref_no: payment.ref_no, request_id: asked_request };
}

/**
 * Records that the driver threw, which only a bug does. Each try is an attempt of its own, because
 * the request may have left and the gateway must be asked first.
 * @returns what to throw.
 */
async function afterBug(
  { database, config }: Service,
  claim: SubmissionClaim,
  bug: unknown,
): Promise<unknown> {
  const options = { pollFirstMs: config.pollFirstMs, tries: JOB_TRIES };
  const isLast = await retryInOutage(() => recordBug(database, claim, messageOf(bug), options));
  return isLast ? new LastTryError(bug) : bug;
}

const TOO_OLD: NotCalled = { outcome: 'notCalled', reason: 'the claim was too old' };

function requestFor(
  { config }: Service,
  payment: AnyPayment,
  base: string,
  merchantName: string,
): Omit<SubmitRequest, 'deadline'> {
  const givesBack = payment.kind === 'reversal' || payment.kind === 'return';
  return {
    kind: payment.kind,
    reference: payment.reference,
    account: accountOf(payment),
    amountCents: payment.amount_cents,
    channel: payment.channel,
    merchantName,
    callbackUrl: callbackUrlOf(config, base, payment),
    timeoutUrl: callbackUrlOf(config, base, payment, { address: 'timeout' }),
    accountNumber: payment.kind === 'collection' ? payment.account_number : null,
    narration: narrationOf(payment),
    originalTransId: givesBack ? payment.original_trans_id : null,
  };
}

function narrationOf(payment: AnyPayment): string | null {
  if (payment.kind === 'payout') return payment.narration;
  return payment.kind === 'reversal' ? payment.reason : null;
}

const RECORDING_DELAY_MS = 1_000;
const RECORDING_TRIES = 1 + RECORDING_MARGIN_MS / RECORDING_DELAY_MS;

/** Runs `work`, and repeats it for some seconds while the database is away. */
async function retryInOutage<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (tries >= RECORDING_TRIES || !isOutage(error)) throw error;
      await sleep(RECORDING_DELAY_MS);
    }
  }
}
