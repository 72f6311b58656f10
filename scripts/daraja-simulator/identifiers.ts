import { randomBytes, randomInt } from 'node:crypto';
import { newReceipt } from '../simulator/receipts.ts';
import { compactDay, dayFirstTime } from './nairobi-time.ts';

const CONVERSATION_BYTES = 10;
const FIRST_REQUEST = 10_000_000;
const MAX_NODE = 99_999;
const PHONE_DIGITS_SHOWN = 9;

export type Identifiers = ReturnType<typeof createIdentifiers>;

/** Makes the identifiers of one simulator. None comes twice. */
export function createIdentifiers() {
  const receipts = new Set<string>();
  const node = randomInt(MAX_NODE);
  let requests = FIRST_REQUEST;
  let turns = 0;
  return {
    /** Counts the messages. What varies from message to message varies by it. */
    turn: () => turns++,
    /** A MerchantRequestID, requestId, or OriginatorConversationID that the caller did not choose. */
    request: () => `${node}-${requests++}-1`,
    receipt: () => newReceipt(receipts),
    conversation: (now = new Date()) =>
      `AG_${compactDay(now)}_${randomBytes(CONVERSATION_BYTES).toString('hex')}`,
    checkout: (phone: string, now = new Date()) => {
      const unique = String(requests++).slice(-3);
      const noise = randomBytes(2).readUInt16BE().toString().padStart(5, '0');
      return `ws_CO_${dayFirstTime(now)}${unique}${noise}${phone.slice(-PHONE_DIGITS_SHOWN)}`;
    },
  };
}
