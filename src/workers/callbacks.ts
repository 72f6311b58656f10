import { findStoredCallback } from '../domain/settlement/callback-store.ts';
import { processCallback } from '../domain/settlement/process-callback.ts';
import { gatewayNamed } from '../gateways/registry.ts';
import type { Service } from '../process/boot.ts';
import { addLogContext } from '../process/logger.ts';

export async function processStoredCallback(
  { database, logger, gateways }: Service,
  merchantId: number,
  callbackId: string,
): Promise<void> {
  const callback = await findStoredCallback(database, merchantId, callbackId);
  if (!callback) return;
  addLogContext({ payment_id: callback.payment_id });
  const gateway = gatewayNamed(gateways, callback.gateway);
  const settlement = await processCallback(database, callback, (body) =>
    gateway.parseCallback(body),
  );
  logger.info('callback processed', { callback_id: callback.id, settlement });
}
