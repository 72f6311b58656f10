import * as records from '../schemas/access-records.ts';
import * as bodies from '../schemas/bodies.ts';
import type { Endpoint } from './endpoint.ts';

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
} as const satisfies Record<string, Endpoint>;
