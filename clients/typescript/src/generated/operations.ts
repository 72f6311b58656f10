/** Made from openapi.json by `npm run openapi`. Do not edit it. */

/** The operations that take an Idempotency-Key. */
export const KEYED_OPERATIONS: ReadonlySet<string> = new Set([
  'POST /collections/checkouts/initiate',
  'POST /payouts/initiate',
  'POST /reversals/initiate',
  'POST /wallets/transfers',
  'POST /webhooks/deliveries/{id}/resend',
  'POST /webhooks/recover',
]);
