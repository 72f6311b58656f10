/** Parts that guessers try first. */
const COMMON = [
  ...['password', 'welcome', 'letmein', 'changeme', 'secret', 'admin', 'login'],
  ...['malipo', 'mpesa', 'safaricom', 'kenya', 'nairobi'],
];
/** Characters in the order of keyboards and of the alphabet. */
const ROWS = ['qwertyuiop', 'asdfghjkl', 'zxcvbnm', '1234567890', 'abcdefghijklmnopqrstuvwxyz'];
/** A shorter part of a name or an address is in many good passwords. */
const MIN_PART_LENGTH = 4;
/** Characters that do not follow from the others: fewer are guessed soon. */
const MIN_SURPRISES = 8;

const TOO_EASY =
  'is easy to guess: take several words, not repeated characters, a row of keys or your own name';

/**
 * Says why a new password is too easy to guess. Leaves out what guessers know: common words, the
 * person's name and address, repeated parts and rows of neighbours. Enough must be left.
 * @param about has the person's e-mail address and name, as far as they are known
 * @returns null for a good password
 */
export function passwordProblem(password: string, about: readonly string[]): string | null {
  const parts = about
    .flatMap((text) => text.toLowerCase().split(/[^\p{L}\d]+/u))
    .filter((part) => part.length >= MIN_PART_LENGTH);
  const known = [...COMMON, ...parts].sort((a, b) => b.length - a.length);
  const rest = known.reduce((text, part) => text.replaceAll(part, ''), password.toLowerCase());
  const once = rest.replace(/(.+?)\1+/gsu, '$1');
  const characters = [...once];
  const surprises = characters.filter(
    (character, index) => index === 0 || !areNeighbours(characters[index - 1]!, character),
  );
  return surprises.length < MIN_SURPRISES ? TOO_EASY : null;
}

function areNeighbours(one: string, other: string): boolean {
  const isInRow = (pair: string) => ROWS.some((row) => row.includes(pair));
  return one === other || isInRow(one + other) || isInRow(other + one);
}
