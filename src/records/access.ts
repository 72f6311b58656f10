import type { Session } from '../domain/credentials/sessions.ts';
import { column, computed, recordOf } from './record.ts';
import * as is from './schema.ts';

/** The records of tokens, sessions and one-time passwords. */

const JWT = 'eyJhbGciOiJIUzI1NiIs…';
const merchantCode = is.integer('The number of your merchant account', 1001);
const products = {
  type: 'array',
  items: { enum: ['collections', 'payouts', 'disbursements'] },
  examples: [['collections', 'payouts']],
};

/** The answer of every endpoint that gives tokens. */
export const tokens = is.object({
  access: is.string('Access token, good for 15 minutes', JWT),
  refresh: is.string('Refresh token, good for 7 days, once', JWT),
  merchant_id: merchantCode,
  merchant_code: is.described(merchantCode, 'The same as `merchant_id`'),
  app_code: is.integerOrNull('The number of the app; null for people', 5001),
  products: is.described(is.nullable(products), 'Products of the app; null for people'),
  name: is.string('The name of the merchant', 'Duka la Mfano'),
  email: is.string('The merchant’s e-mail address', 'owner@duka.example'),
  phone_number: is.string('The merchant’s phone', '+254711000001'),
  requires_verification: is.boolean('The profile is not approved yet'),
  message: is.string('What was done', 'Token issued'),
});

/** The answer of an endpoint that has only a message. */
export function done(message: string): is.Schema {
  return is.object({ message: is.string('What was done', message) });
}

export const newTotp = is.object({
  secret: is.string('In base32, to type in', 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'),
  otpauth_uri: is.string(
    'The same as an address; show it as a QR code',
    'otpauth://totp/Malipo:owner%40duka.example?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Malipo',
  ),
});

export const recoveryCodes = is.object({
  recovery_codes: is.described(
    { type: 'array', items: { type: 'string' } },
    'Ten codes, each good once. They are not shown again',
    ['3f9a1-c04be-7d218-9e6f5'],
  ),
});

/** The secret of an app, as its owner reads it once. */
export const readSecret = is.object({
  app_code: is.integer('The number of the app', 5001),
  app_key: is.string('The key of the app', 'ak_3f0c…'),
  kind: is.oneOf(
    ['app', 'own'],
    '`app`: the app secret. `own`: a secret that signs webhooks alone',
    'app',
  ),
  secret: is.string('It is not shown again', 'as_9Kx…'),
});

/** A session, for a request of the session `asking`. */
export const session = recordOf<Session & { asking: string }>()({
  id: is.idOf('The id of the session'),
  created_at: is.time('The log-in. ISO 8601, UTC'),
  refreshed_at: is.time(
    'The last refresh, or the log-in: one that is in use is refreshed every 15 minutes',
  ),
  expires_at: is.time('It ends then, unless it is refreshed before'),
  ends_at: is.time('It ends then, however often it is refreshed'),
  address: column(
    'ip',
    is.stringOrNull(
      'From where it was refreshed last, or begun; null when that is not known',
      '203.0.113.7',
    ),
  ),
  with_otp: column('with_totp', is.boolean('It was begun with a one-time password')),
  current: computed(
    is.boolean('It is the session of this request'),
    ({ id, asking }) => id === asking,
  ),
});
