import { findStoredCallback } from '../domain/settlement/callback-store.ts';
import { processCallback } from '../domain/settlement/process-callback.ts';
import type { Service } from '../process/boot.ts';
import type { LogFields } from '../process/logger.ts';

/** Applies one stored callback. @returns whether it was still stored. */
export async function processStoredCallback(
  { database, logger, meters, parserOf }: Service,
  merchantId: number,
  callbackId: string,
  fields: LogFields,
): Promise<boolean> {
  const callback = await findStoredCallback(database, merchantId, callbackId);
  if (!callback) return false;
  fields.payment_id = callback.payment_id;
  const settlement = await processCallback(database, callback, parserOf);
  if (settlement === 'unclear') meters.unknownCodes.inc({ gateway: callback.gateway });
  logger.info('callback processed', { callback_id: callback.id, settlement });
  return true;
}
