import { storableText } from '../../domain/text.ts';
import { HOUR_MS, MINUTE_MS } from '../../time.ts';

/**
 * Readers of what Daraja writes. They take text for numbers and numbers for text, one object for a
 * list of one, and go by names. Garbage is null, never an exception.
 */

export type Fields = Readonly<Record<string, unknown>>;
/** Values by their names, from a list of names with values. */
export type Named = ReadonlyMap<string, unknown>;

const MAX_WORDS_LENGTH = 500;
// PostgreSQL cannot store NUL, and an id needs no other control characters either.
const ID = /^\P{Cc}{1,128}$/u;
/** At most ten digits of shillings, so that the amount in cents is an exact integer. */
const AMOUNT = /^(-?)(\d{1,10})(?:\.(\d{1,2}))?$/;
const CENTS_PER_SHILLING = 100;

/** Returns an object's fields; none for anything else. */
export function fieldsOf(value: unknown): Fields {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as Fields) : {};
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads an id, a receipt or a code. */
export function idOf(value: unknown): string | null {
  const text = textOf(value)?.trim();
  return text && ID.test(text) && text.isWellFormed() ? text : null;
}

/** Reads words for people, made storable; '' when there are none. */
export function wordsOf(value: unknown): string {
  const words = textOf(value)?.replace(/\p{Cc}+/gu, ' ') ?? '';
  return storableText(words.trim(), MAX_WORDS_LENGTH);
}

/** Reads shillings (`1`, `"1.00"`, `"-3.5"`) as integer cents, exactly. */
export function centsOf(value: unknown): number | null {
  const [, sign, shillings, decimals = ''] = AMOUNT.exec(textOf(value)?.trim() ?? '') ?? [];
  if (shillings === undefined) return null;
  const cents = Number(shillings) * CENTS_PER_SHILLING + Number(decimals.padEnd(2, '0'));
  return sign === '-' && cents > 0 ? -cents : cents;
}

/**
 * Reads the amount of a movement in cents.
 * @returns null when none is stated, undefined when what is stated is no amount
 */
export function statedCents(value: unknown): number | null | undefined {
  if (value === undefined || value === null || value === '') return null;
  const cents = centsOf(value);
  return cents !== null && cents > 0 ? cents : undefined;
}

/** A part of a list of charges: words, currency, amount. */
const CHARGE = /^[^|]*\|KES\|(\d[\d.]*)$/;

/**
 * Reads what the debited side was charged, such as `Fee For B2C Payment|KES|33.00`. Parts are joined
 * by `&`, and are added.
 * @returns no charge if none is stated, or if any part of the text is not understood
 */
export function chargeIn(parameters: Named): { chargeCents?: number } {
  const text = textOf(parameters.get('DebitPartyCharges'))?.trim();
  const parts = text ? text.split('&') : [];
  const cents = parts.map((part) => centsOf(CHARGE.exec(part.trim())?.[1]));
  if (cents.length === 0 || cents.includes(null)) return {};
  return { chargeCents: cents.reduce<number>((sum, each) => sum + each!, 0) };
}

/** Reads a phone as `2547…` or `7…`, alone or before ` - NAME`. A masked or hashed one is null. */
export function phoneOf(value: unknown): string | null {
  const [, national] = /^\+?(?:254|0)?([17]\d{8})(?: *-.*)?$/s.exec(textOf(value) ?? '') ?? [];
  return national ? `+254${national}` : null;
}

/** Reads a phone, also with hidden digits: `2547 ***** 126` becomes `+2547*****126`. */
export function maskedPhoneOf(value: unknown): string | null {
  const text = (textOf(value) ?? '').replaceAll(' ', '');
  const [, shown] = /^\+?(?:254|0)?(\d*\*+\d{3,})$/.exec(text) ?? [];
  return shown ? `+254${shown}` : phoneOf(value);
}

/** Reads a list of `{Name, Value}` or `{Key, Value}`. */
export function namedValues(list: unknown): Named {
  const items = Array.isArray(list) ? list : [list];
  const pairs = items.map(fieldsOf).flatMap((item): [string, unknown][] => {
    const name = textOf(item.Key ?? item.Name);
    return name === null ? [] : [[name, item.Value]];
  });
  return new Map(pairs);
}

/** The outcome of an asynchronous request. Codes are text, as on the wire. */
export interface DarajaResult {
  code: string;
  words: string;
  originatorConversationId: string | null;
  conversationId: string | null;
  transactionId: string | null;
  parameters: Named;
}

/** Reads a Result, which comes to any address of a payout or reversal. */
export function readResult(body: string): DarajaResult | null {
  const result = fieldsOf(fieldsOf(parseJson(body)).Result);
  const code = idOf(result.ResultCode);
  const originatorConversationId = idOf(result.OriginatorConversationID);
  const conversationId = idOf(result.ConversationID);
  if (code === null || (originatorConversationId ?? conversationId) === null) return null;
  return {
    code,
    words: wordsOf(result.ResultDesc),
    originatorConversationId,
    conversationId,
    transactionId: idOf(result.TransactionID),
    parameters: parametersOf(result),
  };
}

/** Reads the Result of a payment itself. Returns null for the answer to a status question. */
export function readOutcome(body: string): DarajaResult | null {
  const result = readResult(body);
  return result?.parameters.has('TransactionStatus') ? null : result;
}

/** Takes both spellings, also swapped: ResultParameters.ResultParameter and the other way round. */
function parametersOf(result: Fields): Named {
  const outer = result.ResultParameters ?? result.ResultParameter;
  const { ResultParameter, ResultParameters } = fieldsOf(outer);
  return namedValues(ResultParameter ?? ResultParameters ?? outer);
}

function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : null;
}

/** Daraja writes and reads times of East Africa: UTC+3 all year. */
export const EAT_OFFSET_MS = 3 * HOUR_MS;

/** Writes a time as `YYYYMMDDHHmmss`. */
export function eatTimestamp(time: Date): string {
  return eatIso(time).replace(/\D/g, '');
}

/** Writes a time as `YYYY-MM-DD HH:mm:ss`. */
export function eatDateTime(time: Date): string {
  return eatIso(time).replace('T', ' ');
}

const DIGITS = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/;
const DAY_FIRST = /^(\d\d)\.(\d\d)\.(\d{4}) (\d\d:\d\d:\d\d)$/;
const YEAR_FIRST = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.\d+)?(Z|[+-]\d\d:?\d\d)?$/;

/**
 * Reads any of Daraja's forms: `20191219102115` (text or number), `19.12.2019 11:45:50` and
 * `2020-08-05 10:13:00`, which are Nairobi's time, `2020-08-05T10:13:00Z`, and with an offset.
 * @returns null for anything else
 */
export function readTime(value: unknown): Date | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  const text = String(value).replace(DIGITS, '$1-$2-$3T$4:$5:$6').replace(DAY_FIRST, '$3-$2-$1T$4');
  const [, day, clock, zone] = YEAR_FIRST.exec(text) ?? [];
  if (!day) return null;
  const utc = new Date(`${day}T${clock}Z`);
  // A Date takes the 30th of February for the 2nd of March.
  if (Number.isNaN(utc.getTime()) || !utc.toISOString().startsWith(`${day}T${clock}`)) return null;
  if (!zone) return new Date(utc.getTime() - EAT_OFFSET_MS);
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d\d):?(\d\d)$/.exec(zone) ?? [];
  const offsetMs = Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS;
  return new Date(utc.getTime() + (sign === '-' ? offsetMs : -offsetMs));
}

function eatIso(time: Date): string {
  const seconds = 'YYYY-MM-DDTHH:mm:ss'.length;
  return new Date(time.getTime() + EAT_OFFSET_MS).toISOString().slice(0, seconds);
}
