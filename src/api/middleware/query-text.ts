import { type ParsedUrlQuery, parse } from 'node:querystring';
import { Refusal } from '../../domain/errors.ts';

const MAX_PARAMETERS = 1_000;
const NO_LIMIT = 0;

/**
 * Reads the query of an address. Node's own limit would silently drop a filter that comes after it.
 * @throws Refusal `invalid_request` for more parameters than we take
 */
export function parseQueryText(text: string | null): ParsedUrlQuery {
  if (text === null) return {};
  if (text.split('&').length > MAX_PARAMETERS) throw new Refusal('invalid_request');
  return parse(text, '&', '=', { maxKeys: NO_LIMIT });
}
