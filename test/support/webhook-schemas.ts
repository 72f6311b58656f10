import { expect } from 'chai';
import { webhooks } from '../../src/api/documentation/webhooks.ts';
import { createAjv } from '../../src/api/schemas/validator.ts';
import { type Database, rows } from '../../src/connections/database.ts';
import { resolved } from './named-schema.ts';
import { strict } from './strict-schema.ts';

/** The bodies of a payment's settlement events, each checked to be what the documentation says. */
export async function documentedEvents(
  database: Database,
  paymentId: string,
  webhook: keyof ReturnType<typeof webhooks>,
) {
  const events = await rows<{ body: string }>(
    database,
    'SELECT body FROM events WHERE payment_id = :id',
    { id: paymentId },
  );
  const ajv = createAjv();
  const { content } = webhooks()[webhook].post.requestBody;
  const schema = resolved(content['application/json'].schema);
  return events.map(({ body }) => {
    const parsed = JSON.parse(body);
    expect(ajv.validate(strict(schema), parsed), ajv.errorsText()).to.equal(true);
    return parsed;
  });
}
