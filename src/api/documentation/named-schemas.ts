import * as access from '../../records/access.ts';
import * as payments from '../../records/payments.ts';
import { OWN_KEYWORDS, type Schema } from '../../records/schema.ts';
import * as wallets from '../../records/wallets.ts';
import * as bodies from '../../records/webhook-body.ts';
import * as webhooks from '../../records/webhooks.ts';
import { type Endpoint, SECTIONS } from '../endpoints/endpoints.ts';

/*
 * The schemas that have a name in the OpenAPI document. Programs that make types of it call the types so, and a reader
 * sees that two requests answer with the same record.
 */

const RECORDS: Readonly<Record<string, Schema>> = {
  Tokens: access.tokens,
  AppSecret: access.readSecret,
  NewTotp: access.newTotp,
  RecoveryCodes: access.recoveryCodes,
  Session: access.session.schema,
  InitiatedCollection: payments.collection.schema,
  Collection: payments.collectionDetail.schema,
  CollectionDetail: SECTIONS.Collections.getCollection.answer,
  DeprecatedCollection: payments.listedCollection.schema,
  InitiatedPayout: payments.payout.schema,
  Payout: payments.payoutDetail.schema,
  PayoutDetail: SECTIONS.Payouts.getPayout.answer,
  DeprecatedPayout: payments.listedPayout.schema,
  Reversal: payments.reversal.schema,
  ReversalDetail: SECTIONS.Reversals.getReversal.answer,
  WalletBalance: wallets.walletBalance,
  WalletTransaction: wallets.walletTransaction.schema,
  Channel: wallets.channel.schema,
  Event: webhooks.feedEvent.schema,
  Webhook: webhooks.listedDelivery.schema,
  WebhookDetail: webhooks.deliveryDetail.schema,
  ResentWebhook: webhooks.resentDelivery.schema,
  RecoveredWebhooks: webhooks.recovered,
  WebhookEndpoint: webhooks.webhookEndpoint.schema,
  TestedWebhook: webhooks.testedWebhook.schema,
  CollectionEnded: bodies.collectionEnded,
  PayoutEnded: bodies.payoutEnded,
  ReversalEnded: bodies.reversalEnded,
  WebhookTested: bodies.webhookTested,
};

const NAMES = new Map<unknown, string>(
  [...Object.entries(RECORDS), ...ofRequests()].map(([name, schema]) => [schema, name]),
);

/**
 * The body of a request, and a page of a list, are called as the request is: `initiatePayout` takes an
 * `InitiatePayout`, and `listPayouts` answers with a `ListPayouts`.
 */
function ofRequests(): [name: string, schema: object][] {
  const endpoints = Object.values(SECTIONS).flatMap((section) => Object.entries<Endpoint>(section));
  return endpoints.flatMap(([id, { body, answer }]) => {
    const schema = body ?? (id.startsWith('list') ? answer : undefined);
    return schema ? [[`${id[0]!.toUpperCase()}${id.slice(1)}`, schema]] : [];
  });
}

/** Returns the schemas by their names, as the document has them. */
export function namedSchemas(): Record<string, Schema> {
  return Object.fromEntries(
    [...NAMES].map(([schema, name]) => [name, withoutOwn(schema as Schema)]),
  );
}

/** Returns a schema without our own keywords. One that has a name is called by it. */
export function published(schema: Schema): Schema {
  return JSON.parse(
    JSON.stringify(schema, (key, value) => {
      if (OWN_KEYWORDS.includes(key)) return undefined;
      const name = NAMES.get(value);
      return name === undefined ? value : { $ref: `#/components/schemas/${name}` };
    }),
  );
}

/** Returns a named schema itself. The ones inside of it are called by their names. */
function withoutOwn(schema: Schema): Schema {
  return published({ ...schema });
}
