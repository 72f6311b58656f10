import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import {
  DISCREPANCY_KINDS,
  type DiscrepancyKind,
} from '../../../src/domain/discrepancies/discrepancy.ts';
import { ALLOWED_RESOLUTIONS, RESOLUTIONS } from '../../../src/domain/support/resolution.ts';
import { readArguments } from '../../support/admin-usage.ts';

const ROOT = new URL('../../../', import.meta.url);
const SUPPORT = read('docs/support.md');
const DISCREPANCIES = read('docs/discrepancies.md');

/** The text below each heading of the third level, by its name. */
const SECTIONS = new Map(
  DISCREPANCIES.split(/^(?=#{2,3} )/m).flatMap((part) => {
    const [, name, text] = /^### `(\w+)`\n([\s\S]*)$/.exec(part) ?? [];
    return name ? [[name, text!] as const] : [];
  }),
);

const kinds = Object.keys(DISCREPANCY_KINDS) as DiscrepancyKind[];

describe('docs/discrepancies.md', () => {
  it('has a section for every kind of discrepancy, and for nothing else', () => {
    expect([...SECTIONS.keys()]).to.have.members(kinds);
  });

  for (const kind of kinds) {
    it(`says of ${kind} what each resolution does, and of no other`, () => {
      const explained = RESOLUTIONS.filter((as) =>
        new RegExp(`^- .*\`--as ${as}\`.*:`, 'm').test(SECTIONS.get(kind) ?? ''),
      );
      expect(explained).to.have.members([...ALLOWED_RESOLUTIONS[kind]]);
    });
  }
});

for (const [name, document] of Object.entries({ support: SUPPORT, discrepancies: DISCREPANCIES })) {
  describe(`docs/${name}.md`, () => {
    it('has commands that the command line takes', () => {
      const commands = [...document.matchAll(/^\.\/bin\/malipo (.+)$/gm)].map(([, line]) => line!);
      expect(commands.length).to.be.greaterThan(2);
      for (const command of commands) {
        const args = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(
          ([, quoted, bare]) => quoted ?? bare!,
        );
        expect(() => readArguments(args), command).not.to.throw();
      }
    });

    it('quotes words that the console or the API shows', () => {
      const shown = sources('src/');
      const quoted = [...document.matchAll(/“([^”]+)”/g)].map(([, words]) => words!);
      // Three dots stand for what differs, or for the rest.
      const parts = quoted.flatMap((words) => words.split('…')).map((words) => words.trim());
      const unknown = parts.filter((words) => !shown.includes(words));
      expect(unknown).to.deep.equal([]);
    });
  });
}

describe('docs/support.md', () => {
  it('has ten cases, each of which says what to tell the merchant and who comes next', () => {
    const cases = SUPPORT.split(/^(?=#{2,3} )/m).filter((part) => /^### \d+\. /.test(part));
    expect(cases).to.have.length(10);
    for (const each of cases) {
      expect(each).to.include('\n**Tell the merchant').and.to.include('\n**Hand on');
      expect(each).to.match(/^\.\/bin\/malipo /m);
    }
  });
});

function read(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8');
}

/** All texts of the source, with single spaces. */
function sources(folder: string): string {
  const files = readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' });
  const texts = files.filter((name) => /\.tsx?$/.test(name)).map((name) => read(folder + name));
  return texts.join('\n').replace(/\s+/g, ' ');
}
