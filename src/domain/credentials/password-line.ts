import { Refusal } from '../errors.ts';

/** Hashes that one process computes at once. Each takes one of the four threads of Node's pool. */
const MAX_AT_ONCE = 2;
/** Hashes that may wait for their turn, some ten seconds. More are refused, to be tried again. */
const MAX_WAITING = 40;
/** Log-ins of strangers that may be checked, or wait, in one process: half of the places. */
const MAX_OF_STRANGERS = 20;
/** Log-ins of strangers from one network. */
const MAX_OF_NETWORK = 10;

/** Refuses a password because too many others are being checked. Nothing is wrong with it. */
export class LineIsFull extends Refusal {
  constructor() {
    super('unavailable');
  }
}

let running = 0;
const waiting: (() => void)[] = [];

/** Computes a hash when its turn has come. @throws LineIsFull when too many wait */
export async function takeTurn<Result>(compute: () => Promise<Result>): Promise<Result> {
  if (running < MAX_AT_ONCE) running += 1;
  else if (waiting.length >= MAX_WAITING) throw new LineIsFull();
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    return await compute();
  } finally {
    // The next one takes over this one's place.
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}

let strangers = 0;
const ofNetwork = new Map<string, number>();

/**
 * Checks a log-in, of users or staff, in a place of the line. Strangers never get all places, so a
 * flood of wrong passwords leaves room for people who were logged in lately.
 * @param isKnown says that the account was logged in to from this network lately
 * @throws LineIsFull when strangers, or their network, have all of their places
 */
export async function inLine<Result>(
  network: string,
  isKnown: boolean,
  check: () => Promise<Result>,
): Promise<Result> {
  if (isKnown) return check();
  const taken = ofNetwork.get(network) ?? 0;
  if (taken >= MAX_OF_NETWORK || strangers >= MAX_OF_STRANGERS) throw new LineIsFull();
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
