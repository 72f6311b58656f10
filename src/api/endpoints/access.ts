import * as records from '../../records/access.ts';
import * as bodies from '../schemas/bodies.ts';
import { sessions } from '../schemas/queries.ts';
import { ALL, type Endpoint, envelope, type Refused } from './endpoint.ts';

/** Endpoints that give tokens. */
export const accessEndpoints = {
  issueAppTokens: {
    method: 'post',
    path: '/auth/app/token',
    summary: 'Get tokens for an app',
    description: 'Exchanges an app’s key and secret for an access token and a refresh token.',
    body: bodies.appCredentials,
    answer: records.tokens,
    refusals: [
      ['invalid_app_credentials'],
      ['ip_not_allowed'],
      ['merchant_inactive'],
      ['app_inactive'],
      ['rate_limited'],
    ],
  },
  refreshTokens: {
    method: 'post',
    path: '/auth/refresh',
    summary: 'Get new tokens for a refresh token',
    description:
      'Spends the refresh token: it is good once. Using a spent one again ends every token that came from the same log-in. A log-in ends after 30 days, however often it was refreshed.',
    body: bodies.refreshToken,
    answer: records.tokens,
    refusals: [
      ['invalid_token', 'refresh'],
      ['refresh_expired'],
      ['rate_limited'],
      ['token_revoked', 'refresh'],
      ['ip_not_allowed'],
      ['merchant_inactive'],
      ['app_inactive'],
    ],
  },
  logIn: {
    method: 'post',
    path: '/auth/login',
    summary: 'Log a person in',
    description:
      'Whoever uses one-time passwords sends one as `otp`, or a recovery code, which is good once. The password is checked first.',
    body: bodies.logIn,
    answer: records.tokens,
    refusals: [
      ['invalid_credentials'],
      ['otp_required'],
      ['invalid_otp'],
      ['ip_not_allowed'],
      ['merchant_inactive'],
      ['rate_limited'],
    ],
  },
  setUpPassword: {
    method: 'post',
    path: '/auth/set-up/password',
    summary: 'Set your password by a link',
    description:
      'The operator gives nobody a password: a link comes by e-mail, and its page calls this. The link is good once, for 24 hours. All your sessions end.',
    body: bodies.setUpPassword,
    answer: records.done('Password set'),
    refusals: [['invalid_set_up_code'], ['rate_limited']],
  },
  readSecret: {
    method: 'post',
    path: '/auth/set-up/secret',
    summary: 'Read the secret of an app by a link',
    description:
      'When the operator makes an app, or gives it a new secret, a link goes to the merchant’s e-mail address, and its page calls this. The link is good once, for 24 hours.',
    body: bodies.readSecret,
    answer: records.readSecret,
    refusals: [['invalid_set_up_code'], ['rate_limited']],
  },
} as const satisfies Record<string, Endpoint>;

/** People change their own access, with the password again where a stolen session must not. */
const OWN = { roles: ALL, peopleOnly: true, takesNoKey: true } as const;
const WRONG_PASSWORD: Refused[] = [['invalid_credentials'], ['rate_limited']];
const WRONG_EITHER: Refused[] = [...WRONG_PASSWORD, ['totp_not_enabled'], ['invalid_otp']];

/** Endpoints for sessions, passwords and one-time passwords. */
export const ownAccessEndpoints = {
  listSessions: {
    method: 'get',
    path: '/auth/sessions',
    summary: 'List your own sessions',
    description:
      'For people. A session is a log-in and all tokens that came from it. Newest first, without those that have ended.',
    ...OWN,
    beforePasswordChange: true,
    query: sessions,
    answer: envelope(records.session.schema),
  },
  endSession: {
    method: 'delete',
    path: '/auth/sessions/{id}',
    summary: 'End one of your own sessions',
    description: 'For people. Its tokens are refused at once.',
    ...OWN,
    answer: records.done('Session ended'),
    refusals: [['session_not_found']],
  },
  changePassword: {
    method: 'post',
    path: '/auth/password',
    summary: 'Change your own password',
    description:
      'For people. This session goes on with the tokens that it has; all your other sessions end.',
    ...OWN,
    beforePasswordChange: true,
    body: bodies.newPassword,
    answer: records.done('Password changed'),
    refusals: WRONG_PASSWORD,
  },
  beginTotp: {
    method: 'post',
    path: '/auth/totp',
    summary: 'Begin to set up one-time passwords',
    description:
      'For people. Answers a secret for an authenticator app (RFC 6238: six digits, 30 seconds), as text and as the address of a QR code. Log-ins stay as they are until you confirm it; beginning again replaces it.',
    ...OWN,
    body: bodies.ownPassword,
    answer: records.newTotp,
    refusals: [...WRONG_PASSWORD, ['totp_enabled']],
  },
  confirmTotp: {
    method: 'post',
    path: '/auth/totp/confirm',
    summary: 'Switch one-time passwords on',
    description:
      'For people. Takes a first one-time password and answers ten recovery codes, once: each is good once, in place of `otp`. From now on `POST /auth/login` needs `otp`. All your other sessions end. This one goes on; what requires a one-time password needs a new log-in.',
    ...OWN,
    body: bodies.firstOtp,
    answer: records.recoveryCodes,
    refusals: [['rate_limited'], ['totp_enabled'], ['totp_not_enabled'], ['invalid_otp']],
  },
  disableTotp: {
    method: 'post',
    path: '/auth/totp/disable',
    summary: 'Switch one-time passwords off',
    description:
      'For people. The secret and the recovery codes end. No session counts as begun with a one-time password any more.',
    ...OWN,
    body: bodies.passwordAndOtp,
    answer: records.done('One-time passwords are off'),
    refusals: WRONG_EITHER,
  },
  replaceRecoveryCodes: {
    method: 'post',
    path: '/auth/totp/recovery-codes',
    summary: 'Get new recovery codes',
    description: 'For people. The old codes end.',
    ...OWN,
    body: bodies.passwordAndOtp,
    answer: records.recoveryCodes,
    refusals: WRONG_EITHER,
  },
  releaseAccess: {
    method: 'post',
    path: '/auth/access/release',
    summary: 'Let new access send money out',
    description:
      'For users with the role Admin. Passwords, roles and secrets that the operator has just given send no payouts, transfers and reversals for some hours, so that you can notice. This ends the wait of an app or a person of yours. Your own access must be older.',
    ...OWN,
    roles: ['Admin'],
    body: bodies.releasedAccess,
    answer: records.done('It may send money out'),
    refusals: [
      ...WRONG_PASSWORD,
      ['access_too_new', '2026-11-26T20:00:00.000Z'],
      ['field_required', 'app_code'],
      ['app_not_found'],
    ],
  },
  logOut: {
    method: 'post',
    path: '/auth/logout',
    summary: 'Log out',
    description:
      'Ends the session of the token at once: its access tokens and its refresh token. Apps may do so too.',
    roles: ALL,
    takesNoKey: true,
    beforePasswordChange: true,
    answer: records.done('Logged out'),
  },
} as const satisfies Record<string, Endpoint>;
