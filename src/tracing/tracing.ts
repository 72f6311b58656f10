import {
  type Attributes,
  type Context,
  context,
  type Link,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';

/**
 * The trace of a payment has the payment's id, and its first span, the request that made the payment, the second half
 * of the id. So every process adds to the trace without being told of it, and support finds it by the payment. While
 * nothing is exported (`export.ts`), spans record nothing.
 */

const tracer = trace.getTracer('malipo');

/** Names a span. */
export interface SpanIds {
  traceId: string;
  spanId: string;
}

/** Names the first span of a payment's trace. @param paymentId a UUID, whose second half is random */
export function firstSpanOf(paymentId: string): SpanIds {
  const traceId = paymentId.replaceAll('-', '').toLowerCase();
  return { traceId, spanId: traceId.slice(traceId.length / 2) };
}

function contextOf(paymentId: string | undefined): Context {
  if (paymentId === undefined) return ROOT_CONTEXT;
  const ids = firstSpanOf(paymentId);
  return trace.setSpanContext(ROOT_CONTEXT, {
    ...ids,
    traceFlags: TraceFlags.SAMPLED,
    isRemote: true,
  });
}

/**
 * Does work in a span of a payment's trace. `tracedCall` in it makes spans within this one.
 * @param work may add attributes that it learns. What it throws marks the span, and is thrown on.
 */
export function traced<Result>(
  name: string,
  paymentId: string,
  work: (span: Span) => Promise<Result>,
): Promise<Result> {
  return inSpan(name, SpanKind.CONSUMER, {}, contextOf(paymentId), work);
}

/** Does work that calls another service, in a span within the one that is active. */
export function tracedCall<Result>(
  name: string,
  attributes: Attributes,
  work: (span: Span) => Promise<Result>,
): Promise<Result> {
  return inSpan(name, SpanKind.CLIENT, attributes, context.active(), work);
}

function inSpan<Result>(
  name: string,
  kind: SpanKind,
  attributes: Attributes,
  parent: Context,
  work: (span: Span) => Promise<Result>,
): Promise<Result> {
  return tracer.startActiveSpan(name, { kind, attributes }, parent, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      // Its message may hold a phone. The log has it, masked.
      span.setStatus({ code: SpanStatusCode.ERROR, message: (error as Error).name });
      throw error;
    } finally {
      span.end();
    }
  });
}

/** A request that has been answered. */
export interface AnsweredRequest {
  name: string;
  /** In ms since 1970. */
  startTime: number;
  attributes: Attributes;
  isError: boolean;
  /** The payment that it is about, if any. Without one the span has a trace of its own. */
  paymentId: string | undefined;
  /** It has made the payment. */
  isFirst: boolean;
  /** The caller's own span, as its header `traceparent` names it. */
  caller: SpanIds | undefined;
}

/** Ids that the next span takes in place of random ones. */
let given: SpanIds | undefined;

/** Returns the ids that the span which is being made must have, if it must. */
export function givenIds(): SpanIds | undefined {
  return given;
}

/** Records the span of a request, from its arrival to now. */
export function recordRequest(request: AnsweredRequest): void {
  const { name, startTime, attributes, isError, paymentId, isFirst, caller } = request;
  const links: Link[] = caller ? [{ context: { ...caller, traceFlags: TraceFlags.NONE } }] : [];
  given = isFirst && paymentId !== undefined ? firstSpanOf(paymentId) : undefined;
  const parent = given ? ROOT_CONTEXT : contextOf(paymentId);
  const span = tracer.startSpan(
    name,
    { kind: SpanKind.SERVER, startTime, attributes, links },
    parent,
  );
  given = undefined;
  if (isError) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}
