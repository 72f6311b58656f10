import { floatUrl } from '../gateways/callback-address.ts';
import { holdLease, leaseHolder } from '../jobs/lease.ts';
import type { Service } from '../process/boot.ts';

/** The time between two questions about one account. */
const INTERVAL_MS = 300_000;
/** The time between two looks whether a question is due. */
export const FLOAT_TICK_MS = 60_000;

/**
 * Asks the gateways for the money from which payouts go. Nobody renews a lease: whichever
 * dispatcher finds it over asks next. The answers come as callbacks.
 */
export async function askForFloats(service: Service): Promise<void> {
  const { database, config, logger, gateways, callbackBase } = service;
  const base = await callbackBase.find();
  if (base === null) return;
  for (const { name, float } of gateways.values()) {
    if (!float) continue;
    if (!(await holdLease(database, `float-${name}`, leaseHolder(), INTERVAL_MS))) continue;
    const urlOf = (use: 'float' | 'float-timeout') => floatUrl(base, config.secretsKeys, name, use);
    const problem = await float.ask(urlOf('float'), urlOf('float-timeout'));
    if (problem !== null) logger.warn('float not known', { gateway: name, reason: problem });
  }
}
