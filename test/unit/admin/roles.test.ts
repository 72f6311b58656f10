import { expect } from 'chai';
import { STAFF_ROLES } from '../../../src/domain/staff/staff.ts';
import { type AdminModules, loadAdmin } from '../../support/admin-modules.ts';
import { handbookSection } from '../../support/handbook.ts';

describe('The roles of staff', () => {
  let nouns: AdminModules['nouns'];

  before(async () => {
    ({ nouns } = await loadAdmin());
  });

  const commands = () =>
    Object.entries(nouns).flatMap(([noun, { verbs }]) =>
      Object.entries(verbs).map(([name, verb]) => ({ ...verb, name: `${noun} ${name}` })),
    );

  it('are stated by every verb', () => {
    for (const { name, role } of commands()) {
      expect(role, name).to.be.oneOf([...STAFF_ROLES, 'anyone']);
    }
  });

  it('are those that the handbook lists', () => {
    const listed = new Map<string, string>();
    const lines = handbookSection('Staff accounts').matchAll(/^\| (\w+) \| (.*) \|$/gm);
    for (const [, role, cell] of lines) {
      for (const [, name] of cell!.matchAll(/`([a-z -]+)`/g)) listed.set(name!, role!);
    }
    const stated = commands().map(({ name, role }) => [name, role]);
    expect(Object.fromEntries(listed)).to.deep.equal(Object.fromEntries(stated));
  });

  it('let nobody without a token change money, rights or data of merchants', () => {
    const open = commands().filter(({ role, changes }) => role === 'anyone' && changes);
    expect(open.map(({ name }) => name)).to.deep.equal(['queues empty', 'restore mark']);
  });
});
