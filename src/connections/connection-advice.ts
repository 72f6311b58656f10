/** The settings of a store, as the advice names them. */
export const POSTGRES_SETTINGS = {
  url: 'DATABASE_URL',
  ca: 'DATABASE_CA',
  withoutTls: 'remove DATABASE_SSL, DATABASE_CA and sslmode',
};

export const REDIS_SETTINGS: StoreSettings = {
  url: 'REDIS_URL',
  ca: 'REDIS_CA',
  withoutTls: 'begin REDIS_URL with redis://',
};

type StoreSettings = typeof POSTGRES_SETTINGS;

/** Node's codes for a certificate whose chain does not begin with a trusted authority. */
const UNKNOWN_SIGNER = [
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
];
const NO_TLS = /does not support SSL|wrong version number|packet length too long/;

/** Says what is wrong with a connection and what to do, or null when the error itself says it. */
export function connectionAdvice(error: unknown, settings: StoreSettings): string | null {
  const { code, message = '' } = error as { code?: string; message?: string };
  if (code && UNKNOWN_SIGNER.includes(code)) {
    return `its certificate is signed by nobody who is trusted here (${code}): give its CA in ${settings.ca}`;
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return `its certificate is for another host: put into ${settings.url} the host name that it is for`;
  }
  if (code === 'CERT_HAS_EXPIRED') return 'its certificate has expired: it needs a new one';
  if (NO_TLS.test(message)) {
    return `it does not speak TLS: switch that on there, or ${settings.withoutTls}`;
  }
  if (/unsupported startup parameter/.test(message)) {
    return 'it is PgBouncer: set DATABASE_POOLING=transaction';
  }
  return null;
}
