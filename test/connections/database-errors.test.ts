import { expect } from 'chai';
import { isOutage } from '../../src/connections/database-errors.ts';

describe('An error', () => {
  const OUTAGES = [
    ...[
      'ECONNREFUSED',
      'ECONNRESET',
      'EPIPE',
      'ETIMEDOUT',
      'ENOTFOUND',
      'EAI_AGAIN',
      'EHOSTUNREACH',
    ],
    ...['08000', '08006', '53300', '53100', '57P01', '57P03', '58030'],
    ...['40P01', '40001', '55P03', '57014'],
  ];
  const BUGS = ['23505', '23514', '42P01', '42703', '22P02', '22021', 'ERR_ASSERTION', ''];

  it('is an outage when Postgres or Redis is away or overloaded', () => {
    for (const code of OUTAGES) {
      expect(isOutage(Object.assign(new Error('x'), { code })), code).to.equal(true);
    }
    for (const message of [
      'Connection terminated unexpectedly',
      'Connection terminated due to connection timeout',
      'Knex: Timeout acquiring a connection. The pool is probably full.',
      'timeout exceeded when trying to connect',
      'Connection is closed.',
      'Reached the max retries per request limit (which is 20).',
      "Stream isn't writeable and enableOfflineQueue options is false",
    ]) {
      expect(isOutage(new Error(message)), message).to.equal(true);
    }
  });

  it('is no outage when the work itself is impossible', () => {
    for (const code of BUGS) {
      expect(isOutage(Object.assign(new Error('x'), { code })), code).to.equal(false);
    }
    expect(isOutage(new TypeError('x is not a function'))).to.equal(false);
  });
});
