/**
 * Columns that say who asked for a payment or a transfer. All NULL: no request asked for it. No
 * foreign keys: the token proves app and user, and each payment would lock their rows.
 */
export const ASKER_COLUMNS = `
      -- The family of the token. Its row is deleted some days after its end.
      asked_family uuid,
      -- The token's app, which may be another one than the payment is booked on. NULL for a person.
      asked_app bigint,
      asked_user uuid,
      -- As trusted proxies report it.
      asked_ip inet,
      -- The request's id, as the caller knows it from X-Request-Id.
      asked_request text CHECK (length(asked_request) <= 64)`;
