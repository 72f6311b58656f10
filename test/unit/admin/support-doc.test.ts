import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { DiscrepancyKind } from '../../../src/domain/discrepancies/discrepancy.ts';
import { DISCREPANCY_KINDS } from '../../../src/domain/discrepancies/discrepancy.ts';
import { ALLOWED_RESOLUTIONS, RESOLUTIONS } from '../../../src/domain/support/resolution.ts';
import { readArguments } from '../../support/admin-usage.ts';

const DOCUMENT = readFileSync(new URL('../../../docs/support.md', import.meta.url), 'utf8');

/** The text below each heading of the third level, by its name. */
const SECTIONS = new Map(
  DOCUMENT.split(/^(?=#{2,3} )/m).flatMap((part) => {
    const [, name, text] = /^### `(\w+)`\n([\s\S]*)$/.exec(part) ?? [];
    return name ? [[name, text!] as const] : [];
  }),
);

const kinds = Object.keys(DISCREPANCY_KINDS) as DiscrepancyKind[];

describe('docs/support.md', () => {
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

  it('has commands that the command line takes', () => {
    const commands = [...DOCUMENT.matchAll(/^\.\/bin\/malipo (.+)$/gm)].map(([, line]) => line!);
    expect(commands.length).to.be.greaterThan(4);
    for (const command of commands) {
      const args = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(
        ([, quoted, bare]) => quoted ?? bare!,
      );
      expect(() => readArguments(args), command).not.to.throw();
    }
  });
});
