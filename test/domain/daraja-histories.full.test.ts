import { DARAJA_HISTORIES_COUNT } from '../support/matrix.ts';
import { createTestStore, type TestStore } from '../support/payments.ts';
import { itPlays } from '../support/play-histories.ts';

describe('Whatever happens to payments through Daraja, in whatever order', () => {
  let store: TestStore;

  before(async () => {
    store = await createTestStore();
  });

  after(() => store.drop());

  itPlays(DARAJA_HISTORIES_COUNT, 'daraja', () => store);
});
