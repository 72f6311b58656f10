import { COLLECTION_DISCREPANCIES } from './collection-stories.ts';
import { PAYOUT_DISCREPANCIES } from './payout-stories.ts';
import { RETURN_DISCREPANCIES } from './return-stories.ts';
import { REVERSAL_DISCREPANCIES } from './reversal-stories.ts';
import type { Stories } from './story.ts';

/** Everything that may not add up, and all that support can decide about it. */
export const DISCREPANCY_STORIES: Stories = {
  ...COLLECTION_DISCREPANCIES,
  ...PAYOUT_DISCREPANCIES,
  ...REVERSAL_DISCREPANCIES,
  ...RETURN_DISCREPANCIES,
};
