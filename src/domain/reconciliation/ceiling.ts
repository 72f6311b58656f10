import { OperatorRefusal } from '../errors.ts';
import { kes } from '../money.ts';

/**
 * Counts money that a comparison ends, in the transaction that ends it.
 * @throws OperatorRefusal when that is more than was agreed
 */
export type Spend = (cents: number) => void;

/** @param agreedCents is the most that the comparison may settle and fail; null without a limit */
export function ceilingOf(agreedCents: number | null): Spend {
  let endedCents = 0;
  return (cents) => {
    if (agreedCents !== null && endedCents + cents > agreedCents) {
      throw new OperatorRefusal(
        `The comparison has stopped: it would settle or fail more than the ${kes(agreedCents)} that were agreed. What it has done stands. Check the statement anew`,
      );
    }
    endedCents += cents;
  };
}
