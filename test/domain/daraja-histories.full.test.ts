import { DARAJA_HISTORIES_COUNT } from '../support/matrix.ts';
import { itPlays } from '../support/play-histories.ts';
import { useStore } from '../support/world.ts';

describe('Whatever happens to payments through Daraja, in whatever order', () => {
  const store = useStore({ merchant: 'none' });

  itPlays(DARAJA_HISTORIES_COUNT, 'daraja', () => store);
});
