import { HISTORIES_COUNT } from '../support/matrix.ts';
import { itPlays } from '../support/play-histories.ts';
import { useStore } from '../support/world.ts';

describe('Whatever happens to payments, in whatever order', () => {
  const store = useStore({ merchant: 'none' });

  itPlays(HISTORIES_COUNT, 'played', () => store);
});
