import {
  type DarajaSimulatorOptions,
  startDarajaSimulator,
} from '../../scripts/daraja-simulator/server.ts';
import { rows } from '../../src/connections/database.ts';
import { createTokenStore } from '../../src/domain/gateway-accounts/token-store.ts';
import { createDarajaClient } from '../../src/gateways/daraja/client.ts';
import { createDarajaGateway } from '../../src/gateways/daraja/daraja-gateway.ts';
import { darajaConfigFromText } from '../../src/gateways/daraja/settings.ts';
import type { Gateway, SubmitRequest } from '../../src/gateways/gateway.ts';
import { Pace } from '../../src/gateways/pace.ts';
import { DEVELOPMENT_KEYS, keyRingFromText } from '../../src/process/key-ring.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { everyKind, type GatewayUnderTest, type RunningSimulator } from './gateway-stage.ts';

/** Daraja's driver with its real client and its real store of tokens, and Daraja's simulator. */

export const SHORTCODE = '600980';
const PASSKEY = 'the-passkey';
const DELAY_MS = 40;

/** The operator's configuration of one shortcode that can do everything. */
export function darajaSettings(fields: object = {}) {
  return {
    collections: SHORTCODE,
    payouts: SHORTCODE,
    shortcodes: {
      [SHORTCODE]: {
        consumer_key: 'key',
        consumer_secret: 'secret',
        passkey: PASSKEY,
        initiator: 'testapi',
        security_credential: `${'A'.repeat(342)}==`,
        nominated_number: '254712345678',
      },
    },
    ...fields,
  };
}

/** The environment in which M-PESA goes through Daraja at this address. */
export function darajaEnvironment(url: string, fields: object = {}): Record<string, string> {
  return {
    CHANNELS: '63902=daraja',
    DARAJA: JSON.stringify({ ...darajaSettings(fields), base_url: url }),
    DARAJA_SETTLING_WINDOW_MS: '200',
    DARAJA_ANSWER_WINDOW_MS: '300',
  };
}

/** Starts a simulator that checks what it is sent against `darajaSettings`. */
export function startDaraja(options: Partial<DarajaSimulatorOptions> = {}) {
  return startDarajaSimulator({
    ...{ port: 0, consumerKey: 'key', consumerSecret: 'secret', passkey: PASSKEY },
    ...{ shortCode: SHORTCODE, delayMs: DELAY_MS, log: () => {} },
    ...options,
  });
}

let store: TestDatabase;

export async function openTokenStore(): Promise<void> {
  store = await createTestDatabase();
}

export const closeTokenStore = (): Promise<void> => store.drop();

/** Makes all tokens old enough to be renewed when they are refused. */
export async function ageTokens(): Promise<void> {
  const old = `UPDATE gateway_tokens SET renewed_at = renewed_at - interval '1 minute'`;
  await rows(store.database, old);
}

export function makeDarajaGateway(baseUrl: string, timeoutMs: number, fields = {}): Gateway {
  const tokenStore = createTokenStore(store.database, keyRingFromText(DEVELOPMENT_KEYS));
  const config = darajaConfigFromText(
    JSON.stringify({ ...darajaSettings(fields), base_url: baseUrl }),
  );
  const { consumerKey, consumerSecret } = config.shortcodes.get(SHORTCODE)!;
  return createDarajaGateway({
    ...{ shortcode: SHORTCODE, config, pace: new Pace() },
    client: createDarajaClient({ baseUrl, timeoutMs, consumerKey, consumerSecret, tokenStore }),
    ...{ settlingWindowMs: 2_000, answerWindowMs: 1_000 },
  });
}

export const daraja: GatewayUnderTest = {
  resubmit: { collection: 'never', payout: 'safe', reversal: 'never', return: 'never' },
  repeats: 'taken before',
  // Nothing can be asked about without the reference of the acknowledgement.
  neverSent: { reversal: 'noAnswer', return: 'noAnswer' },
  makeGateway: makeDarajaGateway,
  startSimulator: startDarajaForSuite,
  answerPreliminary(req, res) {
    if (!req.url?.includes('oauth/v1/generate')) return false;
    res.writeHead(200, { 'content-type': 'application/json', connection: 'close' });
    res.end('{"access_token":"token","expires_in":"3599"}');
    return true;
  },
  parts: {
    succeeds: everyKind('000'),
    // Numbers that no phone in Kenya has.
    declined: { collection: '+254200000000', payout: '+254200000000' },
    fails: { collection: '032', payout: '032', reversal: '109', return: '109' },
    staysOpen: { collection: '108', payout: '108' },
    answerLost: everyKind('104'),
    requestLost: { collection: '105', payout: '105' },
    busy: everyKind('106'),
    callbackLost: everyKind('101'),
    callbackTwice: everyKind('102'),
    callbackEarly: everyKind('103'),
    failsThenSucceeds: { collection: '107', payout: '107' },
    anotherAmount: { collection: '111', payout: '111' },
    unknownCode: { collection: '122', payout: '122' },
    operatorTrouble: { payout: '121' },
    queueTimeout: { payout: '123' },
  },
};

async function startDarajaForSuite(): Promise<RunningSimulator> {
  const simulator = await startDaraja();
  return { ...simulator, receiptsOf: (request) => receiptsAt(simulator.url, request) };
}

/** Daraja names movements by references of its own, so each payment needs an account of its own. */
export async function receiptsAt(
  url: string,
  { kind, account }: Pick<SubmitRequest, 'kind' | 'account'>,
): Promise<string[]> {
  const response = await fetch(`${url}/statement`);
  const movements = (await response.json()) as Record<'kind' | 'account' | 'trans_id', string>[];
  const wanted = kind === 'return' ? 'reversal' : kind;
  return movements
    .filter((each) => each.kind === wanted && each.account === account)
    .map(({ trans_id }) => trans_id);
}
