import type { Registry } from 'prom-client';
import type { Service } from '../process/boot.ts';
import { addGauges, type GaugeTable } from './gauges.ts';

/** Adds what the operator has said of the accounts with gateways, for alerts to compare with. */
export function addAccountGauges(registry: Registry, gateways: Service['gateways']): void {
  const show = addGauges(registry, ACCOUNT_GAUGES, () =>
    show(
      [...gateways.values()].flatMap(({ name: gateway, float, passwordEndsAt }) => [
        ...(float?.alertBelowCents != null
          ? [{ gateway, malipo_gateway_float_limit_cents: float.alertBelowCents }]
          : []),
        ...(passwordEndsAt
          ? [{ gateway, [PASSWORD_END]: passwordEndsAt.getTime() / MS_PER_SECOND }]
          : []),
      ]),
    ),
  );
}

const MS_PER_SECOND = 1_000;
const PASSWORD_END = 'malipo_gateway_password_end_timestamp_seconds';

const ACCOUNT_GAUGES: GaugeTable = {
  malipo_gateway_float_limit_cents: ['An alert comes below this float, in cents', 'gateway'],
  [PASSWORD_END]: ["When the account's password ends, in seconds since 1970", 'gateway'],
};
