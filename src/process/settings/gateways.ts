import { channelsFromText } from '../../domain/channels/channel.ts';
import { tariffsFromText } from '../../domain/gateway-accounts/tariffs.ts';
import { MAX_GATEWAY_TIMEOUT_MS } from '../../domain/submission/call-limits.ts';
import { HOUR_MS, MINUTE_MS } from '../../time.ts';
import { networksFromText } from '../networks.ts';
import { duration, flag, integer, parsed } from '../setting-types.ts';

/** A stopping process must be able to wait for as long. */
const MAX_WAIT_MS = 20_000;
const MAX_BPS = 10_000;
const MAX_FIXED_CENTS = 99_999_999;

/** The setting that names the drivers. @param usual is its value where the environment has none. */
export function channelSettings(usual: string) {
  return {
    CHANNELS: parsed(channelsFromText)
      .prefault(usual)
      .describe(`Driver of each payment channel. Default: \`${usual}\`. Required in production`)
      .meta({ example: usual }),
  };
}

/** The settings of all gateways. Each driver adds its own. */
export const GATEWAYS = {
  GATEWAY_TIMEOUT_MS: duration(100, MAX_GATEWAY_TIMEOUT_MS)
    .default(15_000)
    .describe('Longest wait for a gateway’s answer. After it the outcome is unknown'),
  SUBMISSION_PAUSED: flag()
    .default(false)
    .describe(
      'Submits nothing to any gateway and refunds no payout, while all else goes on: for a restored database',
    ),
  GATEWAY_CHARGES: parsed(tariffsFromText)
    .optional()
    .describe(
      'What gateways charge the operator: for each gateway and kind of payment, up to which amount which charge. Default: nothing',
    )
    .meta({ example: 'GATEWAY payout 1000=5.00,1500=7.50; GATEWAY reversal 150000=0' }),
  GATEWAY_CALLBACK_SOURCES: parsed(networksFromText)
    .optional()
    .describe(
      'Addresses and networks from which gateways call back. Callbacks from elsewhere are refused. Default: all, since each address of a callback proves itself',
    )
    .meta({ example: '196.201.212.0/24,196.201.213.0/24,196.201.214.0/24' }),
};

export const PAYMENTS = {
  DEFAULT_COMMISSION_BPS: integer(0, MAX_BPS)
    .default(150)
    .describe('Commission on collections in basis points, for merchants without their own rate'),
  DEFAULT_COMMISSION_FIXED_CENTS: integer(0, MAX_FIXED_CENTS)
    .default(0)
    .describe('Fixed part of that commission in cents'),
  DEFAULT_PAYOUT_FEE_BPS: integer(0, MAX_BPS)
    .default(0)
    .describe('Fee on payouts in basis points, for merchants without their own'),
  DEFAULT_PAYOUT_FEE_FIXED_CENTS: integer(0, MAX_FIXED_CENTS)
    .default(0)
    .describe('Fixed part of that fee in cents'),
  COLLECTION_DEADLINE_MS: duration(1_000)
    .default(10 * MINUTE_MS)
    .describe('Age at which an open collection counts as overdue'),
  MOBILE_PAYOUT_DEADLINE_MS: duration(1_000)
    .default(4 * HOUR_MS)
    .describe('Age at which an open payout to a phone counts as overdue'),
  BANK_PAYOUT_DEADLINE_MS: duration(1_000)
    .default(48 * HOUR_MS)
    .describe('Age at which an open payout to a bank account counts as overdue'),
  REVERSAL_WAIT_MS: duration(0, MAX_WAIT_MS)
    .default(10_000)
    .describe(
      'Time for which a request for a reversal waits until the gateway acknowledges it. Then it answers 502 and the reversal goes on',
    ),
  POLL_FIRST_MS: duration(10)
    .default(5_000)
    .describe(
      'Time from a submission to the first question to the gateway for its outcome. Later questions back off',
    ),
};
