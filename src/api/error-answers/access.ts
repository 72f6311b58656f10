import type { AnswerCode, ErrorAnswer } from './answer.ts';

/** The answers to a caller who may not, status 401 and 403. */
export const ACCESS = {
  credentials_missing: {
    status: 401,
    detail: 'Authentication credentials were not provided',
    field: 'Authorization',
    meaning: 'The request has no token',
    remedy: 'Send the header `Authorization: Bearer ACCESS`',
  },
  invalid_token_format: {
    status: 401,
    detail: 'Invalid token format',
    field: 'Authorization',
    meaning: 'The header is not `Bearer`, a space and a token',
    remedy: 'Write `Bearer`, one space, and the token without quotes',
  },
  invalid_token: {
    status: 401,
    detail: 'Invalid or expired token',
    field: '{subject}',
    meaning: 'The token is not ours, is of the other kind, or has expired: get a new one',
    remedy:
      'Get a new access token with `POST /auth/refresh`, or log in again, and send the request once more',
  },
  token_revoked: {
    status: 401,
    detail: 'Token has been revoked',
    field: '{subject}',
    meaning: 'The log-in of this token was ended: log in again',
    remedy:
      'Log in again. Two programs that share a refresh token end each other’s log-in: give each its own',
  },
  refresh_expired: {
    status: 401,
    detail: 'Refresh token has expired. Please login again.',
    field: 'refresh',
    meaning: 'The refresh token is older than 7 days, or the log-in is older than 30',
    remedy: 'Log in again',
  },
  invalid_app_credentials: {
    status: 401,
    detail: 'Invalid app credentials',
    meaning: 'Key and secret do not belong to an app',
    remedy: 'Check key and secret. If the secret was replaced, use the new one',
  },
  invalid_credentials: {
    status: 401,
    detail: 'Invalid credentials',
    meaning:
      'E-mail address and password do not belong to an active user, or the password of a change is wrong',
    remedy: 'Check address and password. After many failures wait, or ask your Administrator',
  },
  otp_required: {
    status: 401,
    detail: 'One-time password required',
    field: 'otp',
    meaning: 'The password is right. The person also uses one-time passwords: send `otp` too',
    remedy: 'Ask the person for the one-time password, and send it as `otp`',
  },
  invalid_otp: {
    status: 401,
    detail: 'Invalid one-time password',
    field: 'otp',
    meaning:
      'Not the one-time password of this half minute or those beside it, used before, or no recovery code that is left',
    remedy: 'Ask for the next one. Check that the phone’s clock is right',
  },
  https_required: {
    status: 403,
    detail: 'HTTPS is required',
    meaning: 'The request came over plain HTTP',
    remedy: 'Use the `https://` address',
  },
  ip_not_allowed: {
    status: 403,
    detail: 'Access denied: IP address not allowed',
    meaning:
      'The caller’s address is not in the allow-list of the app that the token or `app_code` names, of the app of the collection to reverse, or of the merchant for its users',
    remedy: 'Call from an allowed address, or ask the operator to add yours',
  },
  merchant_inactive: {
    status: 403,
    detail: 'Merchant account is not active',
    meaning: 'The operator has suspended the merchant',
    remedy: 'Talk to the operator',
  },
  app_inactive: {
    status: 403,
    detail: 'App is not active',
    meaning: 'The app of the token, or the one that `app_code` names, is suspended',
    remedy: 'Talk to the operator, or use another app',
  },
  role_insufficient: {
    status: 403,
    detail: 'You do not have permission to access this resource',
    meaning: 'The user’s role does not allow this, or only people may do it',
    remedy: 'Have somebody with the role do it, or use an app’s token',
  },
  password_change_required: {
    status: 403,
    detail: 'Change your password first',
    meaning:
      'The operator has set the password. Until it is changed with `POST /auth/password`, the person may only log out and list sessions',
    remedy: 'Send `POST /auth/password` first',
  },
  otp_login_required: {
    status: 403,
    detail: 'Log in with a one-time password before initiating {subject}',
    meaning:
      'The merchant or the operator wants a second factor for this. Set it up with `POST /auth/totp`, then log in with it',
    remedy: 'Set up one-time passwords, then log in with one',
  },
  merchant_not_approved: {
    status: 403,
    detail:
      'Your merchant profile is not approved. Please ensure your profile has been verified before initiating {subject}.',
    meaning: 'The operator has not approved the merchant yet',
    remedy: 'Talk to the operator: something about your profile is not verified yet',
  },
  product_missing: {
    status: 403,
    detail: 'App does not have {subject} product enabled',
    meaning: 'The app may not do this: the operator enables its products',
    remedy: 'Ask the operator to enable the product for the app',
  },
  wallet_missing: {
    status: 403,
    detail: 'Wallet not found or not initialized',
    meaning: 'The merchant has no wallet for this',
    remedy: 'Talk to the operator',
  },
} as const satisfies Partial<Record<AnswerCode, ErrorAnswer>>;
