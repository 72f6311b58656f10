import { context, type DiagLogger, DiagLogLevel, diag, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  type IdGenerator,
  RandomIdGenerator,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Closable } from '../process/lifecycle.ts';
import type { Logger } from '../process/logger.ts';
import { givenIds } from './tracing.ts';

/** A stopping process waits no longer for a collector that is away. */
const FLUSH_LIMIT_MS = 2_000;

/**
 * Sends the spans of this process to a collector, by OTLP over HTTP as JSON, in batches. When the collector is away,
 * spans are dropped, and no payment waits. The exporter also reads `OTEL_EXPORTER_OTLP_HEADERS` and its other variables.
 * @param collector is its address
 * @param samplePercent is of how many payments in 100 spans are sent
 * @param processName names the service in the traces
 * @returns what sends the rest, when the process stops
 */
export function startExport(
  collector: string,
  samplePercent: number,
  processName: string,
  logger: Logger,
): Closable {
  const name = `malipo-${processName}`;
  const diagnostics = diagnosticsOf(logger);
  diag.setLogger(diagnostics, DiagLogLevel.WARN);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  const url = `${collector}/v1/traces`;
  const provider = new TracerProvider({
    resource: defaultResource().merge(resourceFromAttributes({ 'service.name': name })),
    // All processes decide alike, because a payment's trace has the same id in each.
    sampler: new TraceIdRatioBasedSampler(samplePercent / 100),
    idGenerator: idGenerator(),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url }) })],
  });
  trace.setGlobalTracerProvider(provider);
  return {
    name: 'traces',
    close: () =>
      provider
        .forceFlush({ timeoutMillis: FLUSH_LIMIT_MS })
        .catch((error) => diagnostics.error(String(error))),
  };
}

/** Returns random ids, but for the first span of a payment. */
function idGenerator(): IdGenerator {
  const random = new RandomIdGenerator();
  return {
    generateTraceId: () => givenIds()?.traceId ?? random.generateTraceId(),
    generateSpanId: () => givenIds()?.spanId ?? random.generateSpanId(),
  };
}

/** Writes what the exporter says of its troubles into our log. */
function diagnosticsOf(logger: Logger): DiagLogger {
  const warn = (message: string) => void logger.warn('traces are not sent', { error: message });
  const drop = () => {};
  return { error: warn, warn, info: drop, debug: drop, verbose: drop };
}
