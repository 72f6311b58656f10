import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../../domain/credentials/passwords.ts';
import { PAYOUT_CATEGORIES } from '../../domain/payments/kinds.ts';
import { paytoProblem } from '../../domain/payouts/create-payout.ts';
import { spanOf } from '../../domain/period.ts';
import {
  accountNumber,
  amount,
  appCode,
  CHECK,
  callbackUrl,
  currency,
  described,
  endpoint,
  ownAppCode,
  phone,
  RARE,
  REFUSALS,
  refNo,
  reversalRefNo,
  text,
  timestamp,
} from '../../records/schema.ts';
import { bodyOf } from './validator.ts';

/** Schemas of the requests' bodies. Wrong fields are refused in the order in which they stand here. */

const MAX_CREDENTIAL_LENGTH = 200;
/** Longer than any password may be that is set today. */
const MAX_GIVEN_PASSWORD_LENGTH = 200;
const MAX_OTP_LENGTH = 40;
const MAX_EMAIL_LENGTH = 254;
const MAX_CODE_LENGTH = 100;
const MAX_TOKEN_LENGTH = 4_096;
const MAX_NARRATION_LENGTH = 200;
const MAX_REASON_LENGTH = 200;

const credential = text(MAX_CREDENTIAL_LENGTH);

export const appCredentials = bodyOf({
  app_key: described(credential, 'The key of your app', 'ak_3f0c…'),
  app_secret: described(credential, 'The secret of your app', 'as_9Kx…'),
});

export const refreshToken = bodyOf({
  refresh: described(
    { type: 'string', maxLength: MAX_TOKEN_LENGTH },
    'The refresh token of the last answer',
    'eyJhbGciOiJIUzI1NiIs…',
  ),
});

const password = described(
  text(MAX_GIVEN_PASSWORD_LENGTH),
  'Your password',
  'correct horse battery staple',
);
const otp = described(
  text(MAX_OTP_LENGTH),
  'The one-time password, six digits, or a recovery code in its place',
  '492039',
);

export const logIn = bodyOf(
  {
    email: described(text(MAX_EMAIL_LENGTH), 'Your e-mail address', 'owner@duka.example'),
    password,
    otp: { ...otp, description: `${otp.description}. Only of people who use them` },
  },
  ['otp'],
);

const chosenPassword = {
  ...text(MAX_PASSWORD_LENGTH),
  minLength: MIN_PASSWORD_LENGTH,
  description: `${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters; not the old one, and not easy to guess: several words, no repeats, no row of keys, not your own name`,
  examples: ['staple battery horse correct'],
};

export const newPassword = bodyOf({
  old_password: { ...password, description: 'The password that you have now' },
  new_password: chosenPassword,
});

const code = described(
  text(MAX_CODE_LENGTH),
  'What is behind the # in the link of the e-mail',
  'Yb0Hn3J0sLk2mVtWq8cTzKx4fRaQe7uPd1gSi5oNv9wA2bD4fG6hJ8kL0mN2pQ4r',
);

export const setUpPassword = bodyOf({ code, new_password: chosenPassword });
export const readSecret = bodyOf({ code });

export const ownPassword = bodyOf({ password });
export const passwordAndOtp = bodyOf({ password, otp });
export const releasedAccess = bodyOf(
  {
    password,
    app_code: described(
      { type: 'integer', minimum: 1 },
      'The app whose new secret is released',
      5001,
    ),
    email: described(
      text(MAX_EMAIL_LENGTH),
      'The person whose new access is released, instead of an app',
      'finance@duka.example',
    ),
  },
  ['app_code', 'email'],
);
export const firstOtp = bodyOf({
  otp: { ...otp, description: 'The one-time password that the authenticator app shows' },
});

export const newCollection = bodyOf(
  {
    payfrom: { ...phone, description: 'The customer’s phone; it gets the prompt' },
    amount,
    ref_no: refNo,
    account_number: accountNumber,
    callback_url: callbackUrl,
    app_code: ownAppCode,
    currency,
  },
  ['app_code', 'currency'],
);

export const DEFAULT_NARRATION = 'Disbursement';

export const newPayout = bodyOf(
  {
    payto: {
      type: 'string',
      description:
        'The recipient: a Kenyan mobile number in E.164 form, or a bank account number of 5 to 34 letters and digits',
      examples: ['+254712345678'],
      [REFUSALS]: ['invalid_field', 'invalid_phone_number'],
      [CHECK]: ({ payto, channel }) =>
        typeof payto === 'string'
          ? paytoProblem(payto, typeof channel === 'number' ? channel : undefined)
          : 'invalid_field',
    },
    amount,
    ref_no: refNo,
    callback_url: callbackUrl,
    category: {
      ...described({ enum: PAYOUT_CATEGORIES }, 'What you pay for', 'other'),
      default: 'other',
    },
    narration: described(
      { ...text(MAX_NARRATION_LENGTH), default: DEFAULT_NARRATION },
      'Sent to the gateway',
      'Salary November',
    ),
    channel: {
      type: 'integer',
      description:
        'Code of the payment channel. Required for bank accounts; a phone’s is that of its carrier unless given',
      examples: [63902],
    },
    app_code: appCode,
    currency,
  },
  ['category', 'narration', 'channel', 'currency'],
);

export const newReversal = bodyOf(
  {
    checkout_ref_no: { ...refNo, description: 'Your reference of the collection to give back' },
    ref_no: reversalRefNo,
    callback_url: callbackUrl,
    reason: described(
      text(MAX_REASON_LENGTH),
      'Recorded, and sent to the network as remarks',
      'Out of stock',
    ),
    amount: {
      ...amount,
      description:
        'Not needed: a reversal gives the whole collection back. Another amount is refused',
      [RARE]: true,
    },
    app_code: {
      ...ownAppCode,
      description:
        'Not needed. With an app’s token it may only be that app, for people only the app of the collection',
    },
    currency,
  },
  ['reason', 'amount', 'app_code', 'currency'],
);

/** Tells whether two times are in this order. Returns true if either is not a time. */
function areInOrder(first: unknown, second: unknown): boolean {
  const [from, to] = [first, second].map((time) =>
    typeof time === 'string' ? spanOf(time)?.first : undefined,
  );
  return !from || !to || from < to;
}

export const recovery = bodyOf(
  {
    since: { ...timestamp, description: 'Webhooks of events from this time on. ISO 8601' },
    until: {
      ...timestamp,
      description: 'Webhooks of events before this time. ISO 8601. Left out: up to now',
      examples: ['2026-11-20T12:00:00Z'],
      [CHECK]: ({ since, until }) => (areInOrder(since, until) ? null : 'invalid_field'),
    },
    endpoint: { ...endpoint, description: 'Only those to this scheme, host and port' },
  },
  ['until', 'endpoint'],
);

export const webhookTest = bodyOf(
  {
    callback_url: {
      ...callbackUrl,
      description: `Where the example is POSTed, by the same rules as webhooks. ${callbackUrl.description}`,
    },
    app_code: {
      ...ownAppCode,
      description:
        'Which app of yours signs it: people who logged in and have several must say it. With an app’s token it may only be that app',
    },
  },
  ['app_code'],
);

export const newTransfer = bodyOf({ amount, ref_no: refNo, currency }, ['currency']);
