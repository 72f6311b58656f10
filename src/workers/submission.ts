import { type AnyPayment, accountOf, type PaymentRef } from '../domain/payments/payment-store.ts';
import { claimSubmission } from '../domain/submission/claim-submission.ts';
import { recordSubmission } from '../domain/submission/record-submission.ts';
import type { SubmitRequest } from '../gateways/gateway.ts';
import { callbackUrlOf } from '../gateways/query-request.ts';
import { gatewayNamed } from '../gateways/registry.ts';
import type { Service } from '../process/boot.ts';
import { throughOutage } from './through-outage.ts';

/**
 * Sends one payment to its gateway: claim and commit, call, record and commit. Dying
 * between any two of these leaves a claim, and a claim is asked about, never sent again.
 */
export async function submitPayment(
  context: Service,
  ref: PaymentRef,
  stepNo: number,
): Promise<void> {
  const { database, config, logger, gateways } = context;
  const gatewayOf = (payment: AnyPayment) => gatewayNamed(gateways, payment.gateway);
  const claim = await claimSubmission(database, ref, stepNo, {
    pollFirstMs: config.pollFirstMs,
    allPaused: config.submissionPaused,
    check: gatewayOf,
  });
  if (!claim) return;
  const gateway = gatewayOf(claim.payment);
  const result = await gateway.submit(
    requestFor(claim.payment, callbackUrlOf(config, claim.payment)),
  );
  // The answer is worth some patience: the gateway's reference in it is not told twice.
  await throughOutage(() => recordSubmission(database, claim, result, config.pollFirstMs));
  logger.info('submitted', {
    kind: ref.kind,
    gateway: gateway.name,
    attempt: claim.attemptNo,
    outcome: result.outcome,
    reason: 'reason' in result ? result.reason : undefined,
  });
}

function requestFor(payment: AnyPayment, url: string): SubmitRequest {
  const back = payment.kind === 'reversal' || payment.kind === 'return';
  return {
    kind: payment.kind,
    reference: payment.id,
    account: accountOf(payment),
    amountCents: payment.amount_cents,
    channel: payment.channel,
    callbackUrl: url,
    accountNumber: payment.kind === 'collection' ? payment.account_number : null,
    narration: narrationOf(payment),
    originalTransId: back ? payment.original_trans_id : null,
  };
}

function narrationOf(payment: AnyPayment): string | null {
  if (payment.kind === 'payout') return payment.narration;
  return payment.kind === 'reversal' ? payment.reason : null;
}
