import { Writable } from 'node:stream';
import { expect } from 'chai';
import winston from 'winston';
import { lastVerification } from '../../src/domain/ledger/verification/checkpoints.ts';
import { BREAK_KINDS } from '../../src/domain/ledger/verification/checks.ts';
import { createService, type Service } from '../../src/service/service.ts';
import { verifyOnSchedule } from '../../src/workers/schedules.ts';
import { tamper } from '../support/database.ts';
import { watch } from '../support/metrics.ts';
import { startTestService } from '../support/test-service.ts';
import { eventually, newCompletedCollection, useStore } from '../support/world.ts';

describe('The scheduled verification of the ledger', () => {
  const store = useStore({ merchant: 'none' });
  let service: Service;
  let logged: Record<string, unknown>[];

  before(async () => {
    const stream = new Writable({
      write(line, _encoding, done) {
        logged.push(JSON.parse(String(line)));
        done();
      },
    });
    const logger = winston.createLogger({
      format: winston.format.json(),
      transports: [new winston.transports.Stream({ stream })],
    });
    service = createService(store.config, logger, store.database);
  });

  beforeEach(() => {
    logged = [];
  });

  const round = () => verifyOnSchedule(service, new AbortController().signal);
  const errors = () => logged.filter(({ level }) => level === 'error');
  /** Reads the gauges that a dispatcher shows. */
  const metrics = async () => {
    const { config, logger, database } = service;
    const watching = watch(createService(config, logger, database));
    const text = await watching.text();
    await watching.close();
    return text;
  };
  const letIntervalPass = () =>
    store.rows(`UPDATE leases SET held_until = now() WHERE name = 'ledger'`);

  it('has no result before its first run', async () => {
    expect(await lastVerification(store.database)).to.equal(undefined);
    expect(await metrics())
      .to.match(/^malipo_ledger_verified_timestamp_seconds 0$/m)
      .and.not.match(/^malipo_ledger_breaks\{/m);
  });

  it('leaves its result for every process, and a log line and a number for each break', async () => {
    const { merchant_id } = await store.newMerchant().then(async (merchant) => {
      await newCompletedCollection(store.database, merchant);
      return merchant;
    });
    await round();
    expect(errors()).to.deep.equal([]);
    const first = await lastVerification(store.database);
    expect(first!.checked).to.deep.equal({ merchants: 1, entries: 1, journals: 1, payments: 1 });
    expect(first!.breaks).to.deep.equal([]);
    for (const kind of BREAK_KINDS) {
      expect(await metrics()).to.include(`malipo_ledger_breaks{kind="${kind}"} 0\n`);
    }
    await tamper(store.owner, 'UPDATE wallets SET balance_cents = 1 WHERE merchant_id = :m', {
      m: merchant_id,
    });
    await letIntervalPass();
    await round();
    expect(errors()).to.have.length(2);
    expect(errors()[0]).to.include({
      message: 'the books are wrong',
      kind: 'wallet_astray',
      merchant_id,
      id: 'collection',
      expected: '98.50 after entry 1',
      found: '0.01 after entry 1',
    });
    const second = await lastVerification(store.database);
    expect(second!.counts.wallet_astray).to.equal(2);
    expect(second!.breaks.map(({ id }) => id)).to.deep.equal(['collection', 'payout']);
    expect(second!.verified_at).to.be.above(first!.verified_at);
    expect(await metrics())
      .to.include('malipo_ledger_breaks{kind="wallet_astray"} 2\n')
      .and.include('malipo_ledger_breaks{kind="chain_gap"} 0\n')
      .and.include(
        `malipo_ledger_verified_timestamp_seconds ${second!.verified_at.getTime() / 1_000}\n`,
      );
  });

  it('is done by one of many processes, once in each interval', async () => {
    await letIntervalPass();
    await Promise.all([round(), round(), round()]);
    await round();
    const runs = logged.filter(({ message }) => message === 'ledger verified');
    expect(runs).to.have.length(1);
  });

  it('is part of the dispatcher', async () => {
    const dispatcher = await startTestService({ workers: ['dispatcher'] });
    try {
      await eventually('a verification', () => lastVerification(dispatcher.database));
    } finally {
      await dispatcher.close();
    }
  });
});
