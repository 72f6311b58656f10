import { Writable } from 'node:stream';
import { expect } from 'chai';
import winston from 'winston';
import type { Gateway, QueryRequest, SubmitRequest } from '../../src/gateways/gateway.ts';
import type { Closable } from '../../src/process/lifecycle.ts';
import { CALLBACK_BASE_UNKNOWN, recordCallbackBase } from '../../src/service/callback-base.ts';
import { createService, loadConfig, type Service } from '../../src/service/service.ts';
import {
  connectWorkers,
  startWorkers,
  submits,
  workerCondition,
} from '../../src/workers/start-workers.ts';
import { scrape, sumOf } from '../support/metrics.ts';
import { ACKNOWLEDGED, eventually, newPayment, PAYMENT_KINDS, useStore } from '../support/world.ts';

const WEB = 'http://127.0.0.1:5000';

describe('Workers that know no address for callbacks', () => {
  const store = useStore({ fresh: true });
  let service: Service;
  let parts: Closable[];
  let lines: string[];
  let submitted: SubmitRequest[];
  let asked: QueryRequest[];

  const gateway: Gateway = {
    name: 'simulator',
    resubmit: () => 'safe',
    settlingWindowMs: 0,
    answerWindowMs: 0,
    amounts: {},
    submit: async (request) => {
      submitted.push(request);
      return ACKNOWLEDGED;
    },
    query: async (request) => {
      asked.push(request);
      return { outcome: 'pending' };
    },
    parseCallback: () => null,
  };

  beforeEach(async () => {
    [lines, submitted, asked] = [[], [], []];
    const config = loadConfig({ DATABASE_URL: store.url, POLL_FIRST_MS: '10' });
    const stream = new Writable({
      write: (line, _encoding, done) => {
        lines.push(String(line));
        done();
      },
    });
    const logger = winston.createLogger({
      format: winston.format.json(),
      transports: [new winston.transports.Stream({ stream })],
    });
    const real = createService(config, logger, store.database);
    service = { ...real, gateways: new Map([[gateway.name, gateway]]) };
    const types = ['dispatcher', 'submission', 'settlement', 'refunds'] as const;
    parts = startWorkers(service, await connectWorkers(service), types);
  });

  afterEach(async () => {
    await Promise.all(parts.map((part) => part.close()));
  });

  const logged = (text: string) => lines.filter((line) => line.includes(text));
  const putOff = async () =>
    sumOf(await scrape(service.meters.registry), 'malipo_job_duration_seconds_count', {
      outcome: 'put_off',
    });

  it('put off payments of every kind and say so once, until a web process has started', async () => {
    const merchant = await store.newMerchant();
    const payments = [];
    for (const kind of PAYMENT_KINDS) {
      payments.push(await newPayment(kind, store.database, merchant));
    }
    await eventually('all to be put off', async () => ((await putOff()) ?? 0) >= payments.length);
    expect(submitted).to.deep.equal([]);
    for (const payment of payments) {
      const { status, next_step, step_no, parked_reason } = await store.reread(payment);
      expect({ status, next_step, step_no, parked_reason }).to.deep.equal({
        ...{ status: 'pending', next_step: 'submit', parked_reason: null },
        step_no: payment.step_no,
      });
      expect(await store.workOn(payment).attempts()).to.deep.equal([]);
    }
    expect(logged(CALLBACK_BASE_UNKNOWN)).to.have.length(1);
    expect(logged('job put off')).to.deep.equal([]);
    const condition = workerCondition(service, ['submission']);
    expect((await condition()).problem).to.equal(CALLBACK_BASE_UNKNOWN);

    await recordCallbackBase(store.database, WEB);
    await eventually('all to be sent', async () => submitted.length === payments.length);
    for (const { callbackUrl } of submitted) {
      expect(callbackUrl).to.match(new RegExp(`^${WEB}/gateway/callbacks/simulator/`));
    }
    expect(logged('the address for callbacks is known')).to.have.length(1);
    expect((await condition()).problem).to.equal(null);
    expect(await store.countOf('failed_jobs')).to.equal(0);
  });

  it('go on asking about what was sent before', async () => {
    const collection = await newPayment('collection', store.database, await store.newMerchant());
    const work = store.workOn(collection);
    await work.answer(await work.claim(), ACKNOWLEDGED);
    await eventually('a question', async () => asked.length > 0);
    expect(asked[0]).to.include({ reference: collection.reference, callbackUrl: null });
  });
});

describe('A worker’s condition', () => {
  it('needs an address for callbacks only where something is submitted', () => {
    expect(submits(['submission'])).to.equal(true);
    // Returns go from there.
    expect(submits(['webhooks', 'refunds'])).to.equal(true);
    expect(submits(['dispatcher', 'settlement', 'webhooks'])).to.equal(false);
  });
});
