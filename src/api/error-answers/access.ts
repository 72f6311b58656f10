import type { AnswerCode, ErrorAnswer } from './answer.ts';

/** The answers to a caller who may not, status 401 and 403. */
export const ACCESS = {
  credentials_missing: {
    status: 401,
    detail: 'Authentication credentials were not provided',
    field: 'Authorization',
    meaning: 'The request has no token',
  },
  invalid_token_format: {
    status: 401,
    detail: 'Invalid token format',
    field: 'Authorization',
    meaning: 'The header is not `Bearer`, a space and a token',
  },
  invalid_token: {
    status: 401,
    detail: 'Invalid or expired token',
    field: '{subject}',
    meaning: 'The token is not ours, is of the other kind, or has expired: get a new one',
  },
  token_revoked: {
    status: 401,
    detail: 'Token has been revoked',
    field: '{subject}',
    meaning: 'The log-in of this token was ended: log in again',
  },
  refresh_expired: {
    status: 401,
    detail: 'Refresh token has expired. Please login again.',
    field: 'refresh',
    meaning: 'The refresh token is older than 7 days, or the log-in is older than 30',
  },
  invalid_app_credentials: {
    status: 401,
    detail: 'Invalid app credentials',
    meaning: 'Key and secret do not belong to an app',
  },
  invalid_credentials: {
    status: 401,
    detail: 'Invalid credentials',
    meaning:
      'E-mail address and password do not belong to an active user, or the password of a change is wrong',
  },
  otp_required: {
    status: 401,
    detail: 'One-time password required',
    field: 'otp',
    meaning: 'The password is right. The person also uses one-time passwords: send `otp` too',
  },
  invalid_otp: {
    status: 401,
    detail: 'Invalid one-time password',
    field: 'otp',
    meaning:
      'Not the one-time password of this half minute or those beside it, used before, or no recovery code that is left',
  },
  https_required: {
    status: 403,
    detail: 'HTTPS is required',
    meaning: 'The request came over plain HTTP',
  },
  ip_not_allowed: {
    status: 403,
    detail: 'Access denied: IP address not allowed',
    meaning:
      'The caller’s address is not in the allow-list of the app that the token or `app_code` names, of the app of the collection to reverse, or of the merchant for its users',
  },
  merchant_inactive: {
    status: 403,
    detail: 'Merchant account is not active',
    meaning: 'The operator has suspended the merchant',
  },
  app_inactive: {
    status: 403,
    detail: 'App is not active',
    meaning: 'The app of the token, or the one that `app_code` names, is suspended',
  },
  role_insufficient: {
    status: 403,
    detail: 'You do not have permission to access this resource',
    meaning: 'The user’s role does not allow this, or only people may do it',
  },
  password_change_required: {
    status: 403,
    detail: 'Change your password first',
    meaning:
      'The operator has set the password. Until it is changed with `POST /auth/password`, the person may only log out and list sessions',
  },
  otp_login_required: {
    status: 403,
    detail: 'Log in with a one-time password before initiating {subject}',
    meaning:
      'The merchant or the operator wants a second factor for this. Set it up with `POST /auth/totp`, then log in with it',
  },
  merchant_not_approved: {
    status: 403,
    detail:
      'Your merchant profile is not approved. Please ensure your profile has been verified before initiating {subject}.',
    meaning: 'The operator has not approved the merchant yet',
  },
  product_missing: {
    status: 403,
    detail: 'App does not have {subject} product enabled',
    meaning: 'The app may not do this: the operator enables its products',
  },
  wallet_missing: {
    status: 403,
    detail: 'Wallet not found or not initialized',
    meaning: 'The merchant has no wallet for this',
  },
} as const satisfies Partial<Record<AnswerCode, ErrorAnswer>>;
