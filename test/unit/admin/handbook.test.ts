import { expect } from 'chai';
import { readArguments } from '../../support/admin-usage.ts';
import { drillCommands, handbookSection } from '../../support/handbook.ts';

const DAY = '2026-11-20';
const SECTIONS = [
  ...['Staff accounts', 'Security events', 'Credentials leaked'],
  ...['Backup and restore', 'Retention'],
];

describe('docs/operations.md', () => {
  for (const section of SECTIONS) {
    it(`has in "${section}" commands that the command line takes`, () => {
      const commands = [...handbookSection(section).matchAll(/\.\/bin\/malipo ([^;\n]+)/g)];
      expect(commands.length).to.be.greaterThan(1);
      for (const [, line] of commands) {
        const args = [...line!.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) =>
          (quoted ?? bare!).replace(/^\$\w+$/, DAY),
        );
        expect(() => readArguments(args), line).not.to.throw();
      }
    });
  }

  it('has every step of a restore that the drill follows', () => {
    expect([...drillCommands('Backup and restore').keys()]).to.deep.equal([
      ...['migrate', 'empty', 'mark', 'asked', 'reconcile', 'asked again', 'check', 'resume'],
    ]);
  });
});
