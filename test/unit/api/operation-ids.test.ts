import { expect } from 'chai';
import { openApiDocument } from '../../../src/api/documentation/openapi.ts';

/** Generated clients have functions of these names, so none may change. */
const OPERATION_IDS = [
  ...['issueAppTokens', 'refreshTokens', 'logIn', 'logOut', 'setUpPassword', 'readSecret'],
  ...['listSessions', 'endSession', 'changePassword'],
  ...['beginTotp', 'confirmTotp', 'disableTotp', 'replaceRecoveryCodes', 'releaseAccess'],
  ...['initiateCollection', 'listCollections', 'getCollection', 'listCollectionsDeprecated'],
  ...['initiatePayout', 'listPayouts', 'getPayout', 'listPayoutsDeprecated'],
  ...['initiateReversal', 'listReversals', 'getReversal'],
  ...['getBalance', 'listTransactions', 'createTransfer', 'listChannels'],
  ...['listEvents', 'listWebhooks', 'getWebhook', 'resendWebhook', 'recoverWebhooks'],
  ...['listWebhookEndpoints', 'testWebhook'],
];
const WEBHOOK_IDS = ['collectionEnded', 'payoutEnded', 'reversalEnded', 'webhookTested'];

/** A verb, and what it is done to. */
const VERB_AND_NOUN = /^[a-z]+([A-Z][a-z]+)+$/;

describe('The operation ids', () => {
  const { paths, webhooks } = openApiDocument('https://malipo.example');
  const idsOf = (items: object) =>
    Object.values(items).flatMap((methods) =>
      Object.values<{ operationId: string }>(methods).map(({ operationId }) => operationId),
    );

  it('are these', () => {
    expect(idsOf(paths)).to.have.members(OPERATION_IDS);
    expect(idsOf(webhooks)).to.have.members(WEBHOOK_IDS);
  });

  it('are unique, and good names in a client', () => {
    const ids = [...idsOf(paths), ...idsOf(webhooks)];
    expect(new Set(ids).size).to.equal(ids.length);
    for (const id of ids) expect(id).to.match(VERB_AND_NOUN);
  });
});
