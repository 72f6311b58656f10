import type { AuditRecord } from './audit/audit-log.ts';

const KEPT_AT_START = 5;
const KEPT_AT_END = 3;
const DOTS = '•••••';
/** A phone without spaces, or an account number, within a text. No part of an id or an amount. */
const LONG_NUMBER = /(?<![\w-])\+?\d{7,}(?![\w-]|\.\d)/g;
/** A Kenyan phone with spaces, dashes, dots or brackets, such as 0712 345 678 or +254 712-345-678. */
const WRITTEN_PHONE =
  /(?<![\w-])(?:\(?(?:\+|00)?254\)?[ .-]?|\(?0)[17]\d{2}[ .)-]{1,2}\d{3}[ .-]?\d{3}(?![\w-])/g;
const E_MAIL = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g;

/** Hides personal data until a member of staff reveals it. */
export interface Veil {
  isLifted: boolean;
  /** A phone, or the number of a bank account. */
  account(text: string): string;
  /** The name or e-mail address of a person. */
  name(text: string): string;
  /** A text of ours, which may have phones and account numbers in it. */
  numbers(text: string): string;
  /** A text that somebody wrote, which may have e-mail addresses in it too. */
  text(text: string): string;
}

export const VEILED: Veil = {
  isLifted: false,
  account: hideAccount,
  name: hideName,
  numbers: hideNumbers,
  text: (text) => hideNumbers(text).replace(E_MAIL, hideName),
};

const asItIs = (text: string) => text;

export const LIFTED: Veil = {
  isLifted: true,
  account: asItIs,
  name: asItIs,
  numbers: asItIs,
  text: asItIs,
};

function hideName(text: string): string {
  return `${text.slice(0, 1)}${DOTS}`;
}

function hideNumbers(text: string): string {
  return text
    .replace(WRITTEN_PHONE, (phone) => hideAccount(phone.replace(/[^\d+]/g, '')))
    .replace(LONG_NUMBER, hideAccount);
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
  const hidden = (_name: string, value: unknown) =>
    typeof value === 'string' ? VEILED.numbers(value) : value;
  return {
    ...line,
    subject: VEILED.numbers(subject),
    reason: reason && VEILED.text(reason),
    details: JSON.parse(JSON.stringify(details, hidden)) as AuditRecord['details'],
  };
}
