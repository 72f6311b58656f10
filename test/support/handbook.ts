import { readFileSync } from 'node:fs';

const HANDBOOK = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');

/** The text of a section of docs/operations.md, without its heading. */
export function handbookSection(title: string): string {
  const [, text] = HANDBOOK.split(/^(?=## )/m).flatMap((section) => {
    const [heading, ...lines] = section.split('\n');
    return heading === `## ${title}` ? [heading, lines.join('\n')] : [];
  });
  if (text === undefined) throw new Error(`docs/operations.md has no section ${title}`);
  return text;
}

/** The shell commands below `<!-- drill: NAME -->` in a section, in their order, by name. */
export function drillCommands(title: string): Map<string, string> {
  const blocks = handbookSection(title).matchAll(/^<!-- drill: (.+) -->\n```sh\n([\s\S]*?)^```$/gm);
  return new Map([...blocks].map(([, name, commands]) => [name!, commands!]));
}
