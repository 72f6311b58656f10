import type { Outcome } from '../behaviours.ts';
import { numberOrText } from './variety.ts';

export type Parameters = readonly (readonly [Key: string, Value: number | string])[];

interface ResultFields {
  originatorConversationId: string;
  conversationId: string;
  transactionId: string;
  outcome: Outcome;
  parameters: Parameters;
}

/** Stands where no money moved, so that there is no receipt. */
export const GENERIC_RECEIPT = 'OAK0000000';

const REFERENCE_ITEM = {
  Key: 'QueueTimeoutURL',
  Value: 'https://internalapi.safaricom.co.ke/mpesa/results/v1/submit',
};

/** Writes a result. The same form goes to both addresses, for results and for timeouts. */
export function resultBody(fields: ResultFields, turn: number): object {
  const { outcome, parameters } = fields;
  const list = parameters.map(([Key, Value]) => ({ Key, Value }));
  return {
    Result: {
      ResultType: 0,
      ResultCode: numberOrText(outcome.code, turn),
      ResultDesc: outcome.description,
      OriginatorConversationID: fields.originatorConversationId,
      ConversationID: fields.conversationId,
      TransactionID: fields.transactionId,
      // A list of one comes without its brackets.
      ...(list.length > 0 && {
        ResultParameters: { ResultParameter: list.length === 1 ? list[0] : list },
      }),
      ReferenceData: { ReferenceItem: REFERENCE_ITEM },
    },
  };
}
