import type { AppTokens, MerchantTokens } from '../../domain/identity/log-in.ts';

/** The answer to an app that has exchanged its credentials. */
export function appTokens(tokens: AppTokens) {
  return {
    access: tokens.access,
    refresh: tokens.refresh,
    merchant_id: tokens.merchant_id,
    app_code: tokens.app_code,
    products: tokens.products,
  };
}

/** The answer to a person who has logged in, and to a refresh token. */
export function merchantTokens(tokens: MerchantTokens, message: string) {
  return {
    access: tokens.access,
    refresh: tokens.refresh,
    merchant_code: tokens.merchant_code,
    name: tokens.name,
    email: tokens.email,
    phone_number: tokens.phone_number,
    requires_verification: tokens.requires_verification,
    message,
  };
}
