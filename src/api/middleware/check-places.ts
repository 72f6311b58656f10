import { Refusal } from '../../domain/errors.ts';

/**
 * Checks of passwords that are under way in this process, or wait for their turn. Each takes long,
 * and `password.ts` refuses more than some forty. So that strangers do not take all of these places,
 * they have half of them at most, and one network a quarter.
 */
const MAX_OF_STRANGERS = 20;
const MAX_OF_NETWORK = 10;

let strangers = 0;
const ofNetwork = new Map<string, number>();

/**
 * Runs a check of a password in one of the places.
 * @param isKnown says that the account was logged in to from there lately, or that it has a session.
 * @throws Refusal `unavailable` when there is no place, and what `check` throws
 */
export async function inPlace<Result>(
  network: string,
  isKnown: boolean,
  check: () => Promise<Result>,
): Promise<Result> {
  if (isKnown) return check();
  const taken = ofNetwork.get(network) ?? 0;
  if (taken >= MAX_OF_NETWORK || strangers >= MAX_OF_STRANGERS) throw new Refusal('unavailable');
  strangers += 1;
  ofNetwork.set(network, taken + 1);
  try {
    return await check();
  } finally {
    strangers -= 1;
    const left = ofNetwork.get(network)! - 1;
    if (left > 0) ofNetwork.set(network, left);
    else ofNetwork.delete(network);
  }
}
