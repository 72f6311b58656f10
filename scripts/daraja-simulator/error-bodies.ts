import type { Response } from 'express';
import type { Identifiers } from './identifiers.ts';
import { reply } from './reply.ts';

/** An answer of Daraja that refuses a request. */
export interface DarajaError {
  status: number;
  errorCode: string;
  errorMessage: string;
}

const INVALID_TOKEN = 'Invalid Access Token';

/** Each product has its own code for a token that is not valid. */
export const BAD_TOKEN = {
  stkPush: error(404, '404.001.03', INVALID_TOKEN),
  reversal: error(404, '404.001.03', INVALID_TOKEN),
  b2c: error(401, '401.002.01', `Error Occurred - ${INVALID_TOKEN}`),
  accountBalance: error(401, '401.002.01', `Error Occurred - ${INVALID_TOKEN}`),
  transactionStatus: error(400, '400.003.01', INVALID_TOKEN),
  pull: error(401, '401.001', INVALID_TOKEN),
  organization: error(401, '401.003.01', INVALID_TOKEN),
} as const;

export const ERRORS = {
  badCredentials: error(400, '400.008.01', 'Invalid Authentication passed'),
  badGrantType: error(400, '400.008.02', 'Invalid grant type passed'),
  noBearer: error(404, '404.001.04', 'Invalid Authentication Header'),
  notFound: error(404, '404.001.01', 'Resource not found'),
  wrongMethod: error(405, '405.001', 'Method Not Allowed'),
  unreadable: error(400, '400.002.05', 'Invalid Request Payload'),
  noMerchant: error(500, '500.001.1001', 'Merchant does not exist'),
  subscriberLocked: error(
    500,
    '500.001.1001',
    'Unable to lock subscriber, a transaction is already in process for the current subscriber',
  ),
  wrongPassword: error(500, '500.001.1001', 'Wrong credentials'),
  duplicate: error(500, '500.002.1001', 'Duplicate OriginatorConversationID.'),
  noTransaction: error(500, '500.001.1001', 'The transaction does not Exist'),
  processing: error(500, '500.001.1001', 'The transaction is being processed'),
  processingWithoutWords: error(500, '500.001.1001', ''),
  spikeArrest: error(500, '500.003.02', 'Spike Arrest Violation'),
  internal: error(500, '500.003.1001', 'Internal Server Error'),
} as const;

export function invalidField(name: string): DarajaError {
  return error(400, '400.002.02', `Bad Request - Invalid ${name}`);
}

export function replyError(
  res: Response,
  ids: Identifiers,
  { status, errorCode, errorMessage }: DarajaError,
): void {
  reply(res, status, { requestId: ids.request(), errorCode, errorMessage });
}

function error(status: number, errorCode: string, errorMessage: string): DarajaError {
  return { status, errorCode, errorMessage };
}
