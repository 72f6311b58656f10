import { described, nullable, record, type Schema, string, timestamp, uuid } from './fields.ts';

/** Schemas of the answers about tokens, sessions and one-time passwords. */

const products = {
  type: 'array',
  items: { enum: ['collections', 'payouts', 'disbursements'] },
  examples: [['collections', 'payouts']],
};
const jwt = { type: 'string', description: 'A JWT', examples: ['eyJhbGciOiJIUzI1NiIs…'] };
const merchantCode = described({ type: 'integer' }, 'The number of your merchant account', 1001);

/** The answer of every endpoint that gives tokens. */
export const tokens = record({
  access: { ...jwt, description: 'Access token, good for 15 minutes' },
  refresh: { ...jwt, description: 'Refresh token, good for 7 days, once' },
  merchant_id: merchantCode,
  merchant_code: { ...merchantCode, description: 'The same as `merchant_id`' },
  app_code: described(
    { type: ['integer', 'null'] },
    'The number of the app; null for people',
    5001,
  ),
  products: { ...nullable(products), description: 'Products of the app; null for people' },
  name: described(string, 'The name of the merchant', 'Duka la Mfano'),
  email: described(string, 'The merchant’s e-mail address', 'owner@duka.example'),
  phone_number: described(string, 'The merchant’s phone', '+254711000001'),
  requires_verification: { type: 'boolean', description: 'The profile is not approved yet' },
  message: described(string, 'What was done', 'Token issued'),
});

/** The answer of what has nothing else to say. */
export function done(message: string): Schema {
  return record({ message: described(string, 'What was done', message) });
}

export const newTotp = record({
  secret: described(string, 'In base32, to type in', 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'),
  otpauth_uri: described(
    string,
    'The same as an address; show it as a QR code',
    'otpauth://totp/Malipo:owner%40duka.example?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Malipo',
  ),
});

export const recoveryCodes = record({
  recovery_codes: {
    type: 'array',
    items: string,
    description: 'Ten codes, each good once. They are not shown again',
    examples: [['3f9a1-c04be-7d218-9e6f5']],
  },
});

export const session = record({
  id: { ...uuid, description: 'The id of the session' },
  created_at: { ...timestamp, description: 'The log-in. ISO 8601, UTC' },
  refreshed_at: {
    ...timestamp,
    description:
      'The last refresh, or the log-in: one that is in use is refreshed every 15 minutes',
  },
  expires_at: { ...timestamp, description: 'It ends then, unless it is refreshed before' },
  ends_at: { ...timestamp, description: 'It ends then, however often it is refreshed' },
  address: described(
    nullable(string),
    'From where it was refreshed last, or begun; null when that is not known',
    '203.0.113.7',
  ),
  with_otp: { type: 'boolean', description: 'It was begun with a one-time password' },
  current: { type: 'boolean', description: 'It is the session of this request' },
});
