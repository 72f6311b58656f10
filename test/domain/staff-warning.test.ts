import { expect } from 'chai';
import { addMember } from '../../src/domain/staff/replace-access.ts';
import { newToken, staffWarning } from '../../src/domain/staff/staff.ts';
import { useStore } from '../support/world.ts';

describe('Too few staff accounts', () => {
  const store = useStore({ fresh: true });

  it('are warned of in production, until there are three admins', async () => {
    const warnings: (string | null)[] = [];
    for (const email of ['asha@x.example', 'bob@x.example', 'carol@x.example', null]) {
      warnings.push(await staffWarning(store.database, { malipoEnv: 'production' }));
      if (email === null) continue;
      const { token: _, ...stored } = newToken();
      const member = { name: 'Somebody', email, role: 'admin' as const, ...stored };
      const isFirst = warnings.length === 1;
      await store.transaction((trx) => addMember(trx, member, isFirst));
    }
    const [none, one, two, three] = warnings;
    expect(none).to.include('there are no staff accounts');
    expect(one).to.include('there is one admin');
    expect(two).to.include('there are two admins');
    expect(three).to.equal(null);
    expect(await staffWarning(store.database, { malipoEnv: 'development' })).to.equal(null);
  });
});
