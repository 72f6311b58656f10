import { BAD_TOKEN } from '../error-bodies.ts';
import * as fields from '../fields.ts';
import { textOf } from '../fields.ts';
import type { Product } from '../product.ts';
import { reply } from '../reply.ts';

/** Tells the name of an organisation, at once. */
export const organization: Product = {
  path: '/sfcverify/v1/query/info',
  badToken: BAD_TOKEN.organization,
  fields: [
    ['IdentifierType', fields.oneOf('2', '4')],
    ['Identifier', fields.shortCode],
  ],
  handle(world, body, res) {
    reply(res, 200, {
      ConversationID: world.ids.request(),
      ResponseCode: '4000',
      ResponseMessage: 'Success',
      DetailedMessage: 'Request received successfully',
      OrganizationShortCode: textOf(body.Identifier),
      OrganizationName: 'Simulated Organisation',
    });
  },
};
