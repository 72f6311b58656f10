/**
 * Replaces the generated part of a document: what stands between `<!-- name:begin -->` and
 * `<!-- name:end -->`.
 * @throws Error when the document has no such markers
 */
export function withGeneratedPart(document: string, name: string, part: string): string {
  const [begin, end] = [`<!-- ${name}:begin -->`, `<!-- ${name}:end -->`];
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`There is no ${begin} with a ${end} after it`);
  return `${document.slice(0, from)}${begin}\n${part}${document.slice(to)}`;
}
