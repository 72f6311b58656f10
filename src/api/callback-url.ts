import { Refusal } from '../domain/errors.ts';
import type { Config } from '../process/config.ts';

/** The callback address of a checked body. @throws Refusal when it must be https and is not */
export function callbackUrlIn({ requireHttps }: Config, body: Record<string, unknown>): string {
  const callbackUrl = String(body.callback_url);
  if (requireHttps && !/^https:/i.test(callbackUrl)) {
    throw new Refusal('invalid_field', 'callback_url');
  }
  return callbackUrl;
}
