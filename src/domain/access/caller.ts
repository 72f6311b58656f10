import { type Database, firstRow } from '../../connections/database.ts';
import type { KeyRing } from '../../process/key-ring.ts';
import { TOKEN_FIELDS, tokenRevoked, verifyToken } from '../credentials/tokens.ts';
import { Refusal } from '../errors.ts';
import type { Product } from '../merchants/app.ts';
import type { Role } from '../merchants/user.ts';
import type { Rate } from '../money.ts';
import type { Asker } from './asker.ts';
import {
  type Access,
  holderOf,
  IP_ALLOWED,
  requireAccess,
  type TotpOperation,
} from './require-access.ts';

/** The caller that a valid access token stands for. */
export interface Caller {
  merchant_id: number;
  /** The token's app; null for a person. */
  app: { code: number; products: Product[] } | null;
  /** The person's role; null for an app, because roles do not limit apps. */
  role: Role | null;
  /** The person's e-mail address; null for an app. */
  email: string | null;
  /** The facts about the caller that its payments keep. */
  asker: Asker;
  approved: boolean;
  /** The person gave a one-time password at log-in. */
  withTotp: boolean;
  /** The operations for which the merchant wants a one-time password of its users. */
  totpRequiredFor: readonly TotpOperation[];
  /** The person must change the password before anything else. */
  mustChangePassword: boolean;
  /** The access is new and sends no money out before. Null: it may. */
  outgoingFrom: Date | null;
  /** The merchant's own commission, payout fee and rate limits. Null stands for the default. */
  ownCommission: OwnRate;
  ownPayoutFee: OwnRate;
  ownLimit: OwnLimit;
  ownPayoutLimit: OwnLimit;
}

type OwnLimit = { perMinute: number | null; burst: number | null };

export type OwnRate = { [part in keyof Rate]: Rate[part] | null };

interface FamilyRow extends Access, Pick<Caller, 'merchant_id' | 'role' | 'email' | 'approved'> {
  revoked: boolean;
  app_code: number | null;
  user_id: string | null;
  products: Product[] | null;
  with_totp: boolean;
  totp_required_for: TotpOperation[];
  must_change_password: boolean;
  outgoing_from: Date | null;
  commission_bps: number | null;
  commission_fixed_cents: number | null;
  payout_fee_bps: number | null;
  payout_fee_fixed_cents: number | null;
  rate_limit_per_minute: number | null;
  rate_limit_burst: number | null;
  payout_limit_per_minute: number | null;
  payout_limit_burst: number | null;
}

/**
 * Checks an access token: verifies its signature and reads its family by the primary key. So a
 * revocation takes effect at once. The order of the refusals is part of the API.
 * @param requestId names the request; null: nobody asks for a payment by it
 * @throws Refusal `invalid_token`, `token_revoked`, `ip_not_allowed`, `merchant_inactive`, `app_inactive`
 */
export async function authenticate(
  database: Database,
  jwtKeys: KeyRing,
  token: string,
  ip: string | null,
  requestId: string | null = null,
): Promise<Caller> {
  const { fam } = verifyToken(jwtKeys, token, 'access');
  const row = await firstRow<FamilyRow>(database, FAMILY, { family: fam, ip });
  if (!row) throw new Refusal('invalid_token', TOKEN_FIELDS.access);
  const holder = { ...holderOf(row), family: fam };
  if (row.revoked) throw tokenRevoked('access', holder);
  requireAccess(row, holder);
  return {
    merchant_id: row.merchant_id,
    app: row.app_code === null ? null : { code: row.app_code, products: row.products ?? [] },
    role: row.role,
    email: row.email,
    asker: {
      asked_family: fam,
      asked_app: row.app_code,
      asked_user: row.user_id,
      asked_ip: ip,
      asked_request: requestId,
    },
    approved: row.approved,
    withTotp: row.with_totp,
    totpRequiredFor: row.totp_required_for,
    mustChangePassword: row.must_change_password,
    outgoingFrom: row.outgoing_from,
    ownCommission: { bps: row.commission_bps, fixedCents: row.commission_fixed_cents },
    ownPayoutFee: { bps: row.payout_fee_bps, fixedCents: row.payout_fee_fixed_cents },
    ownLimit: { perMinute: row.rate_limit_per_minute, burst: row.rate_limit_burst },
    ownPayoutLimit: { perMinute: row.payout_limit_per_minute, burst: row.payout_limit_burst },
  };
}

/** The token of a deactivated user counts as revoked, even if its family was not revoked. */
const FAMILY = `
  SELECT f.merchant_id, f.app_code, f.user_id, u.role, u.email, a.products, m.approved,
    f.revoked_at IS NOT NULL OR NOT coalesce(u.active, true)
      OR coalesce(s.expires_at <= now(), false) AS revoked,
    m.active AS merchant_active, coalesce(a.active, true) AS app_active,
    f.with_totp, m.totp_required_for,
    coalesce(u.must_change_password, false) AS must_change_password,
    CASE WHEN coalesce(s.outgoing_from, u.outgoing_from) > now()
      THEN coalesce(s.outgoing_from, u.outgoing_from) END AS outgoing_from,
    ${IP_ALLOWED} AS ip_allowed,
    m.commission_bps, m.commission_fixed_cents, m.payout_fee_bps, m.payout_fee_fixed_cents,
    m.rate_limit_per_minute, m.rate_limit_burst, m.payout_limit_per_minute, m.payout_limit_burst
  FROM token_families f
  JOIN merchants m ON m.id = f.merchant_id
  LEFT JOIN apps a ON a.merchant_id = f.merchant_id AND a.code = f.app_code
  LEFT JOIN app_secrets s ON s.id = f.secret_id
  LEFT JOIN users u ON u.merchant_id = f.merchant_id AND u.id = f.user_id
  WHERE f.id = :family`;

/** Requires an approved merchant. @throws Refusal `merchant_not_approved`, naming the operation */
export function requireApproval(caller: Caller, operation: string): void {
  if (!caller.approved) throw new Refusal('merchant_not_approved', operation);
}

/**
 * Requires that the token's app has the product. A person's app is checked later, because the
 * body of the request names it.
 * @throws Refusal `product_missing`
 */
export function requireProduct(caller: Caller, product: Product): void {
  if (caller.app && !caller.app.products.includes(product)) {
    throw new Refusal('product_missing', product);
  }
}

/** Returns the rate that a merchant pays: each part is its own if it has one, else the default. */
export function rateOf(own: OwnRate, defaults: Rate): Rate {
  return { bps: own.bps ?? defaults.bps, fixedCents: own.fixedCents ?? defaults.fixedCents };
}
