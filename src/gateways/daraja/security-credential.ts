import { constants, publicEncrypt } from 'node:crypto';
import { eatTimestamp } from './times.ts';

/**
 * Encrypts an initiator's password as Daraja wants it: RSA with PKCS#1 v1.5, in base64. The dates
 * of the certificate are not checked, because the certificates in use are long expired.
 * @throws Error when the certificate is none, or its key is too short for the password
 */
export function securityCredential(password: string, certificate: string): string {
  const key = { key: certificate, padding: constants.RSA_PKCS1_PADDING };
  return publicEncrypt(key, Buffer.from(password)).toString('base64');
}

/** Makes the password of an STK push or query. @param timestamp is the one in the same request. */
export function stkPassword(shortcode: string, passkey: string, timestamp: string): string {
  return Buffer.from(`${shortcode}${passkey}${timestamp}`).toString('base64');
}

/** The fields that authorise an STK push or query made now. */
export function stkAuthority(shortcode: string, passkey: string): Record<string, unknown> {
  const timestamp = eatTimestamp(new Date());
  return {
    BusinessShortCode: Number(shortcode),
    Password: stkPassword(shortcode, passkey, timestamp),
    Timestamp: timestamp,
  };
}
