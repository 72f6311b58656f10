/** Columns of words, which may be cut. No command takes such a text, and --json shows all of it. */
const TEXT_TITLES = new Set([
  ...['NAME', 'MAY CALL FROM', 'BY', 'REASON', 'CAUSE', 'DETAIL', 'DETAILS', 'PROBLEM', 'BODY'],
  ...['ERROR', 'LAST ERROR', 'LAST ANSWER', 'SINCE THEN', 'NEEDS SUPPORT', 'PARKED REASON'],
  ...['CALLBACK URL', 'ALSO FOUND'],
]);
const MIN_TEXT_WIDTH = 12;
const ELLIPSIS = '…';

/**
 * Makes rows under their titles fit into a width. It shortens the widest texts first, and never
 * ids, amounts or times. @returns null if the rows still do not fit
 */
export function fitted(lines: string[][], width: number, gap: number): string[][] | null {
  const [titles = []] = lines;
  const widths = titles.map((_, index) => Math.max(...lines.map((cells) => cells[index]!.length)));
  const smallest = titles.map((title) => Math.max(title.length, MIN_TEXT_WIDTH));
  let excess = widths.reduce((sum, each) => sum + each + gap, -gap) - width;
  for (; excess > 0; excess -= 1) {
    const [widest] = [...titles.keys()]
      .filter((index) => TEXT_TITLES.has(titles[index]!) && widths[index]! > smallest[index]!)
      .sort((one, other) => widths[other]! - widths[one]!);
    if (widest === undefined) return null;
    widths[widest]! -= 1;
  }
  return lines.map((cells) => cells.map((text, index) => cut(text, widths[index]!)));
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}${ELLIPSIS}` : text;
}
