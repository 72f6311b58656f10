import { expect } from 'chai';
import { startServiceProcess } from '../../scripts/sandbox/service-process.ts';
import { environment } from '../support/environment.ts';
import { makeFolder } from '../support/make-folder.ts';
import { createTestStore, rejection, type TestStore } from '../support/payments.ts';
import { makeReadOnly } from '../support/read-only.ts';
import { stackEnvironment } from '../support/stack-environment.ts';

describe('A database that can be read but not written', () => {
  let store: TestStore;

  before(async () => {
    store = await createTestStore();
    await makeReadOnly(store.url);
  });

  after(() => store.drop());

  it('is refused by a process that starts', async () => {
    const starting = startServiceProcess({
      name: 'web',
      program: 'src/main/web.ts',
      env: await stackEnvironment(store.url),
      logFolder: makeFolder('read-only'),
      reaper: environment.reaper,
    });
    expect((await rejection(starting)).message).to.match(
      /DATABASE_URL can only be read: default_transaction_read_only is on/,
    );
  });
});
