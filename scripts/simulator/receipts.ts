import { randomInt } from 'node:crypto';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const CHARACTERS = `${LETTERS}0123456789`;
const RECEIPT_LENGTH = 10;

/** Makes a receipt like M-PESA's: a letter and nine letters or digits. Adds it to `taken`. */
export function newReceipt(taken: Set<string>): string {
  const pick = (characters: string) => characters[randomInt(characters.length)];
  const rest = Array.from({ length: RECEIPT_LENGTH - 1 }, () => pick(CHARACTERS));
  const receipt = `${pick(LETTERS)}${rest.join('')}`;
  if (taken.has(receipt)) return newReceipt(taken);
  taken.add(receipt);
  return receipt;
}
