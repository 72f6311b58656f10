/** The checks of a request's fields, in the order in which Daraja makes them. */
export type FieldChecks = readonly (readonly [name: string, check: Check])[];
export type Body = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => boolean;

/** Returns the name of the first field that is not valid, or null. */
export function wrongField(body: Body, checks: FieldChecks): string | null {
  return checks.find(([name, check]) => !check(body[name]))?.[0] ?? null;
}

/** Reads a field as text. Daraja takes an integer for the same digits as text. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return Number.isSafeInteger(value) ? String(value) : '';
}

/** Reads whole shillings that `amount` has accepted, in cents. */
export function centsOf(value: unknown): number {
  return Number(textOf(value)) * CENTS_PER_SHILLING;
}

const CENTS_PER_SHILLING = 100;
const MAX_URL_LENGTH = 2048;
const MAX_REMARKS_LENGTH = 100;

export const matching =
  (pattern: RegExp): Check =>
  (value) =>
    pattern.test(textOf(value));

export const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || value === '' || check(value);

export const text =
  (min: number, max: number): Check =>
  (value) =>
    typeof value === 'string' && value.length >= min && value.length <= max;

export const oneOf =
  (...values: string[]): Check =>
  (value) =>
    values.includes(textOf(value));

/** Whole shillings in these limits. */
export const amount =
  (minShillings: number, maxShillings: number): Check =>
  (value) =>
    /^\d{1,9}$/.test(textOf(value)) &&
    Number(textOf(value)) >= minShillings &&
    Number(textOf(value)) <= maxShillings;

export const phone = matching(/^254[17]\d{8}$/);
export const shortCode = matching(/^\d{5,7}$/);

/** Production wants https. A simulator also calls back on the machine itself. */
export const url: Check = (value) =>
  text(1, MAX_URL_LENGTH)(value) &&
  /^https?:\/\//i.test(value as string) &&
  URL.canParse(value as string);

/** The fields that every request of an initiator has. */
export const INITIATOR_FIELDS = {
  /** RSA with 2048 bits makes 256 bytes, which are 344 characters of base64. */
  credential: ['SecurityCredential', matching(/^[A-Za-z0-9+/]{342}==$/)],
  remarks: ['Remarks', text(2, MAX_REMARKS_LENGTH)],
  timeoutUrl: ['QueueTimeOutURL', url],
  resultUrl: ['ResultURL', url],
} as const satisfies Record<string, FieldChecks[number]>;
export const occasion = optional(text(1, MAX_REMARKS_LENGTH));
