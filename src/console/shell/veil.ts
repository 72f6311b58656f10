const KEPT_AT_START = 5;
const KEPT_AT_END = 3;
const DOTS = '•••••';
/** A phone in any usual form, or an account number, within a text. No part of an id. */
const LONG_NUMBER = /(?<![\w-])\+?\d{7,}(?![\w-])/g;

/** What hides personal data until a member of staff reveals it. */
export interface Veil {
  isLifted: boolean;
  /** A phone, or the number of a bank account. */
  account(text: string): string;
  /** The name or e-mail address of a person. */
  name(text: string): string;
  /** A text of somebody else, which may have phones and account numbers in it. */
  text(text: string): string;
}

export const VEILED: Veil = {
  isLifted: false,
  account: hideAccount,
  name: (text) => `${text.slice(0, 1)}${DOTS}`,
  text: (text) => text.replace(LONG_NUMBER, hideAccount),
};

const asItIs = (text: string) => text;

export const LIFTED: Veil = { isLifted: true, account: asItIs, name: asItIs, text: asItIs };

/** Keeps so much that two phones can be told apart: `+2547•••••678`. */
function hideAccount(text: string): string {
  const isPhone = /^\+?\d{12}$/.test(text);
  const start = isPhone
    ? text.slice(0, text.startsWith('+') ? KEPT_AT_START : KEPT_AT_START - 1)
    : '';
  return `${start}${DOTS}${text.length > 2 * KEPT_AT_END ? text.slice(-KEPT_AT_END) : ''}`;
}
