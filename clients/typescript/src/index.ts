export type { Call, Init, Item, ListPath, NamedCalls, PathsOf } from './calls.ts';
export { type ClientOptions, createClient, type MalipoClient } from './client.ts';
export type { operations, paths, webhooks } from './generated/schema.ts';
export { MalipoError } from './malipo-error.ts';
export type { Paginate } from './paginate.ts';
export type { SendOptions, TryAnswer } from './send.ts';
export type { AppCredentials, Credentials, PersonCredentials } from './session.ts';
export {
  TOLERANCE_S,
  verifyWebhook,
  type WebhookEvent,
  type WebhookHeaders,
  WebhookVerificationError,
} from './verify-webhook.ts';
export { type ReceiverOptions, webhookReceiver } from './webhook-receiver.ts';
