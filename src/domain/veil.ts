import type { AuditRecord } from './audit/audit-log.ts';
import { withoutProofs } from './text.ts';

const KEPT_AT_START = 5;
const KEPT_AT_END = 3;
const DOTS = '•••••';
/** A number with fewer digits names nobody. */
const MIN_DIGITS = 7;
/** A word of letters and digits with fewer digits is no account number. */
const MIN_MIXED_DIGITS = 5;
const E_MAIL = /[\p{L}\p{N}_.+-]+@[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)+/gu;

/** No part of a longer word stands before or behind, and no other part of a longer number. */
const BEFORE_WORD = String.raw`(?<![\p{L}\d+_/:.-])`;
const BEFORE = String.raw`${BEFORE_WORD}(?<!\d[ .,()/_:'*\p{Pd}]{1,3})`;
const BEHIND = String.raw`(?![\p{L}\d_/:-]|[.,]\d|[ ()]{1,2}\d)`;
const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const DAY = '(?:20\\d\\d-[01]\\d-[0-3]\\d|[0-3]\\d[-/.][01]\\d[-/.]20\\d\\d)';

/** Numbers that are known to name nobody. Each other long number is hidden. */
const harmless = (serverPort: string) =>
  new RegExp(
    [
      // An address of a server.
      `(?<![\\p{L}\\d_.-])${OCTET}(?:\\.${OCTET}){3}${serverPort}(?![\\p{L}\\d_-]|[.:]\\d)`,
      // An id of ours, and the hash of a phone.
      '(?<![\\w-])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![\\w-])',
      '(?<!\\w)(?=\\d{0,63}[a-f])[0-9a-f]{64}(?!\\w)',
      // A moment.
      `${BEFORE_WORD}${DAY}(?:[T ][0-2]\\d:\\d\\d(?::\\d\\d(?:\\.\\d{1,6})?)?(?:Z|[+-]\\d\\d:\\d\\d)?)?${BEHIND}`,
      // An amount below ten million: with its currency, or with commas, or below a million.
      `(?<=KES )[1-9]\\d{6}\\.\\d{2}${BEHIND}`,
      `${BEFORE}-?(?:0|[1-9]\\d{0,5}|[1-9]\\d{0,2},\\d{3}|[1-9],\\d{3},\\d{3})\\.\\d{2}${BEHIND}`,
      // A receipt of M-PESA.
      `${BEFORE}(?=[A-Z]*(?:\\d[A-Z]*){1,5}(?![A-Z\\d]))[A-Z]{2}[A-Z\\d]{8}${BEHIND}`,
    ].join('|'),
    'gu',
  );

const HARMLESS_OF_OURS = harmless('(?::\\d{1,5})?');
/** In what others wrote, an address without its port may be a phone. */
const HARMLESS = harmless(':\\d{2,5}');

/** Digits with what people write between them, such as +(254) 712-345.678. */
const NUMBER = /\+?\(?\d(?:[ .,()/_:'*\p{Pd}]{0,3}\d)*/gu;
/** Words of letters and digits. */
const WORD = /[\p{L}\d]+(?:[_\p{Pd}][\p{L}\d]+)*/gu;

/** Hides personal data until a member of staff reveals it. */
export interface Veil {
  isLifted: boolean;
  /** A phone, or the number of a bank account. */
  account(text: string): string;
  /** The name or e-mail address of a person. */
  name(text: string): string;
  /** A text of ours, which may have phones and account numbers in it. */
  numbers(text: string): string;
  /** A text that staff or a gateway wrote, which may have e-mail addresses in it too. */
  text(text: string): string;
  /** A text that a merchant or a receiver chose: it may name anybody. */
  foreign(text: string): string;
}

export const VEILED: Veil = {
  isLifted: false,
  account: hideAccount,
  name: hideName,
  numbers: (text) => hidden(text, HARMLESS_OF_OURS, hideNumbers),
  text: (text) =>
    hidden(text, HARMLESS, (plain) => hideNumbers(hideWords(plain.replace(E_MAIL, hideName)))),
  foreign: (text) => (text === '' ? '' : `${DOTS} (hidden)`),
};

const asItIs = (text: string) => text;

export const LIFTED: Veil = {
  isLifted: true,
  account: asItIs,
  name: asItIs,
  numbers: withoutProofs,
  text: withoutProofs,
  foreign: asItIs,
};

function hideName(text: string): string {
  return `${text.slice(0, 1)}${DOTS}`;
}

/** Leaves a text without personal data as it is written. */
function hidden(given: string, known: RegExp, hide: (plain: string) => string): string {
  const text = withoutProofs(given);
  const plain = plainOf(text);
  let rest = 0;
  let made = '';
  for (const { 0: number, index } of plain.matchAll(known)) {
    made += hide(plain.slice(rest, index)) + number;
    rest = index + number.length;
  }
  made += hide(plain.slice(rest));
  return made === plain ? text : made;
}

/** Spells the digits and spaces of every script as ASCII does, and drops invisible characters. */
function plainOf(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/[\p{Cf}\p{Cc}\p{Mn}]/gu, (mark) => (/\s/.test(mark) ? ' ' : ''))
    .replace(/\p{Nd}/gu, asciiDigit)
    .replace(/\p{Zs}+/gu, ' ');
}

/** Unicode has the ten digits of each script in a row. */
function asciiDigit(digit: string): string {
  const isDigit = (code: number) => /\p{Nd}/u.test(String.fromCodePoint(code));
  let zero = digit.codePointAt(0)!;
  const value = zero;
  while (value - zero < 9 && isDigit(zero - 1)) zero -= 1;
  return String((value - zero) % 10);
}

function digitsIn(text: string): number {
  return text.replace(/\D/g, '').length;
}

function hideNumbers(text: string): string {
  return text.replace(NUMBER, (number) =>
    digitsIn(number) < MIN_DIGITS ? number : hideAccount(number.replace(/[^\d+]/g, '')),
  );
}

/** Hides account numbers that have letters. */
function hideWords(text: string): string {
  return text.replace(WORD, (word) => {
    const isOne = /^[\p{L}\d]+$/u.test(word);
    const isHarmless =
      !/\p{L}/u.test(word) || digitsIn(word) < (isOne ? MIN_MIXED_DIGITS : MIN_DIGITS);
    return isHarmless ? word : hideAccount(word);
  });
}

/** Keeps so much that two phones can be told apart: `+2547•••••678`. */
function hideAccount(text: string): string {
  const isPhone = /^\+?\d{12}$/.test(text);
  const start = isPhone
    ? text.slice(0, text.startsWith('+') ? KEPT_AT_START : KEPT_AT_START - 1)
    : '';
  return `${start}${DOTS}${text.length > 2 * KEPT_AT_END ? text.slice(-KEPT_AT_END) : ''}`;
}

/**
 * Hides the personal data of a line of the audit log. E-mail addresses in its subject and details
 * stay: they belong to staff, merchants and their users. Numbers in its details are ours.
 */
export function veiled({ subject, reason, details, ...line }: AuditRecord): AuditRecord {
  const hide = (_name: string, value: unknown) =>
    typeof value === 'string' ? VEILED.numbers(value) : value;
  return {
    ...line,
    subject: VEILED.numbers(subject),
    reason: reason && VEILED.text(reason),
    details: JSON.parse(JSON.stringify(details, hide)) as AuditRecord['details'],
  };
}
