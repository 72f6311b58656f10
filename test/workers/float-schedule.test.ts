import { expect } from 'chai';
import {
  type DarajaSimulator,
  startDarajaSimulator,
} from '../../scripts/daraja-simulator/server.ts';
import { darajaSettings } from '../../scripts/daraja-simulator/service-settings.ts';
import { rows } from '../../src/connections/database.ts';
import { floatUrl } from '../../src/gateways/callback-address.ts';
import { askForFloats } from '../../src/workers/schedules.ts';
import { request } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { startTestService, type TestService } from '../support/test-service.ts';

const GATEWAY = 'daraja-174379';
const FLOAT_CENTS = 123_456_00;

describe('The float of a gateway', () => {
  let simulator: DarajaSimulator;
  let service: TestService;

  before(async () => {
    simulator = await startDarajaSimulator({ port: 0, delayMs: 10, floatCents: FLOAT_CENTS });
    service = await startTestService({
      workers: [],
      env: { CHANNELS: '63902=daraja', ...darajaSettings(simulator.url) },
    });
  });
  after(async () => {
    await service.close();
    await simulator.close();
  });

  const known = () =>
    rows<{ gateway: string; available_cents: number }>(
      service.database,
      'SELECT gateway, available_cents FROM gateway_floats',
    );
  const answer = (url: string, body: unknown) => request('POST', url, { body });
  const addressOf = (use: 'float' | 'float-timeout', gateway = GATEWAY) =>
    floatUrl(service.origin, service.config.secretsKeys, gateway, { use, askedAt: new Date() });
  const balance = (AccountBalance: string) => ({
    Result: {
      ResultCode: 0,
      ConversationID: 'AG_1',
      OriginatorConversationID: '1',
      ResultParameters: { ResultParameter: { Key: 'AccountBalance', Value: AccountBalance } },
    },
  });

  it('is asked for, and kept when the answer comes', async () => {
    await askForFloats(service);
    await eventually('the answer', async () => (await known()).length === 1);
    expect(await known()).to.deep.equal([{ gateway: GATEWAY, available_cents: FLOAT_CENTS }]);
  });

  it('is asked for once by all dispatchers together', async () => {
    const count = async () => {
      const { body } = await request('GET', `${simulator.url}/counts`);
      return body['/mpesa/accountbalance/v1/query'];
    };
    const before = await count();
    await Promise.all([1, 2, 3].map(() => askForFloats(service)));
    expect(await count()).to.equal(before);
  });

  it('follows every answer, below zero too', async () => {
    const body = balance('Working Account|KES|9|9|0|0&Utility Account|KES|-5.50|-5.50|0.00|0.00');
    expect((await answer(addressOf('float'), body)).status).to.equal(200);
    expect(await known()).to.deep.equal([{ gateway: GATEWAY, available_cents: -550 }]);
  });

  it('stays as it is after a timeout, an answer that says nothing, and a wrong address', async () => {
    const before = await known();
    const body = balance('Utility Account|KES|1.00|1.00|0.00|0.00');
    expect((await answer(addressOf('float-timeout'), body)).status).to.equal(200);
    for (const nothing of [{}, 'text', balance('Utility Account|KES')]) {
      expect((await answer(addressOf('float'), nothing)).status).to.equal(200);
    }
    const wrong = `${addressOf('float').slice(0, -1)}_`;
    const ofAnother = addressOf('float', 'daraja-600980').replace('daraja-600980', GATEWAY);
    for (const url of [wrong, ofAnother]) expect((await answer(url, body)).status).to.equal(404);
    expect(await known()).to.deep.equal(before);
  });
});
