import { type AttemptOutcome, isTaken } from '../domain/webhooks/delivery.ts';
import type { FeedEvent } from '../domain/webhooks/event-feed.ts';
import type { OwnDelivery, OwnEndpoint } from '../domain/webhooks/list-own-deliveries.ts';
import { WAITS, waitOf } from '../domain/webhooks/next-words.ts';
import type { Webhook, WebhookAttempt } from '../domain/webhooks/webhook-file.ts';

/** A webhook with its delivery, in a list. */
export function deliveryRecord(delivery: OwnDelivery) {
  return {
    ...eventFields(delivery),
    callback_url: delivery.callback_url,
    status: delivery.status,
    attempts: delivery.attempts,
    delivered_at: timeOf(delivery.delivered_at),
    last_attempt_at: timeOf(delivery.last_attempt_at),
    last_status: delivery.last_status,
    last_error: delivery.last_error,
    next_attempt_at: timeOf(delivery.next_attempt_at),
  };
}

/** A webhook by itself. Its delivery exists: merchants do not see it before. */
export function deliveryDetail(webhook: Webhook, attempts: WebhookAttempt[]) {
  const last = attempts.at(-1);
  const waitsFor = waitOf(webhook);
  return {
    ...deliveryRecord({
      ...webhook,
      sequence: webhook.sequence!,
      status: webhook.status!,
      attempts: webhook.attempts!,
      last_attempt_at: last?.attempted_at ?? null,
      last_status: last?.response_status ?? null,
      last_error: last?.error ?? null,
    }),
    endpoint: webhook.endpoint,
    waits_for: waitsFor,
    waits_for_description: waitsFor && WAITS[waitsFor],
    payload: JSON.parse(webhook.body),
    attempts_made: attempts.map(attemptRecord),
  };
}

function attemptRecord(attempt: WebhookAttempt) {
  return {
    attempt: attempt.attempt_no,
    attempted_at: attempt.attempted_at.toISOString(),
    duration_ms: attempt.duration_ms,
    status: attempt.response_status,
    error: attempt.error,
    answer: attempt.answer,
  };
}

/** An event in the feed. */
export function feedEvent(event: FeedEvent) {
  return { ...eventFields(event), payload: JSON.parse(event.body) };
}

function eventFields(event: Omit<FeedEvent, 'body'>) {
  return {
    id: event.id,
    sequence: event.sequence,
    event: event.type,
    type: event.payment_kind,
    payment_id: event.payment_id,
    ref_no: event.ref_no,
    created_at: event.created_at.toISOString(),
  };
}

/** A receiver, with what the attempts have told of it. */
export function endpointRecord(endpoint: OwnEndpoint) {
  return {
    endpoint: endpoint.endpoint,
    state: endpoint.state,
    failing_since: timeOf(endpoint.failing_since),
    held_since: timeOf(endpoint.opened_at),
    failures: endpoint.failures,
    last_status: endpoint.last_status,
    last_error: endpoint.last_error,
    last_failure_at: timeOf(endpoint.last_failure_at),
    last_success_at: timeOf(endpoint.last_success_at),
    next_probe_at: timeOf(endpoint.probe_at),
    waiting: endpoint.waiting,
    concurrency: endpoint.concurrency,
  };
}

/** Presents the answer of a receiver that was sent an example. */
export function testedWebhook(id: string, { status, error, durationMs, answer }: AttemptOutcome) {
  return {
    delivered: isTaken(status),
    status,
    error,
    duration_ms: Math.round(durationMs),
    answer,
    webhook_id: id,
  };
}

function timeOf(time: Date | null): string | null {
  return time?.toISOString() ?? null;
}
