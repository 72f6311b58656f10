import { Registry } from 'prom-client';
import { httpMeters } from './http.ts';
import { gatewayMeter } from './measured-gateway.ts';
import { workMeters } from './work.ts';

/**
 * What one process counts as it works, in a registry of its own. Whoever does the work is
 * handed these and counts; labels are words out of the code, never a merchant or an id.
 */
export function createMeters() {
  const registry = new Registry();
  return {
    registry,
    http: httpMeters(registry),
    gatewayCalls: gatewayMeter(registry),
    ...workMeters(registry),
  };
}

export type Meters = ReturnType<typeof createMeters>;
