import { expect } from 'chai';
import {
  afterFailure,
  afterSuccess,
  type Endpoint,
  FULL_CONCURRENCY,
  OPENS_AFTER,
  PROBE_DELAYS_MS,
} from '../../../src/domain/webhooks/endpoint.ts';

const FRESH: Endpoint = {
  breaker: 'closed',
  concurrency: 1,
  failures: 0,
  failing_since: null,
  times_out: false,
  last_status: null,
  last_error: null,
  last_failure_at: null,
  last_success_at: null,
  opened_at: null,
  probes: 0,
  probe_at: null,
  told_exhausted_at: null,
};

const START = new Date('2026-11-20T08:00:00Z');
const at = (ms: number) => new Date(START.getTime() + ms);
const answer = (status: number) => ({
  ...{ status, error: null, reason: null, durationMs: 1, timedOut: false },
  ...{ retryAfterMs: null, answer: '' },
});
const timeout = { ...answer(0), status: null, error: 'timeout', timedOut: true, answer: null };

function failTimes(count: number, endpoint = FRESH) {
  const notices = [];
  let failing = endpoint;
  for (let n = 0; n < count; n += 1) {
    const change = afterFailure(failing, answer(500), START);
    failing = change.endpoint;
    if (change.notice) notices.push(change.notice);
  }
  return { endpoint: failing, notices };
}

describe('A receiver of webhooks', () => {
  it('gets one delivery more at once with each success, up to a limit', () => {
    let endpoint = FRESH;
    const seen = [endpoint.concurrency];
    for (let n = 0; n < FULL_CONCURRENCY + 2; n += 1) {
      ({ endpoint } = afterSuccess(endpoint, START));
      seen.push(endpoint.concurrency);
    }
    expect(seen.slice(0, 4)).to.deep.equal([1, 2, 3, 4]);
    expect(seen.at(-1)).to.equal(FULL_CONCURRENCY);
  });

  it('gets half as many at once after each failure, and never none', () => {
    let endpoint = { ...FRESH, concurrency: 8 };
    const seen = [];
    for (let n = 0; n < 4; n += 1) {
      ({ endpoint } = afterFailure(endpoint, answer(503), START));
      seen.push(endpoint.concurrency);
    }
    expect(seen).to.deep.equal([4, 2, 1, 1]);
  });

  it('fails since its first failure in a row, and shows the last one', () => {
    const first = afterFailure(FRESH, answer(500), START).endpoint;
    const second = afterFailure(first, timeout, at(60_000)).endpoint;
    expect(second).to.include({ failures: 2, last_error: 'timeout', last_status: null });
    expect(second.failing_since).to.deep.equal(START);
    expect(second.last_failure_at).to.deep.equal(at(60_000));
  });

  it('times out while its last attempt had no answer in time', () => {
    const timingOut = afterFailure(FRESH, timeout, START).endpoint;
    expect(timingOut.times_out).to.equal(true);
    expect(afterFailure(timingOut, answer(500), START).endpoint.times_out).to.equal(false);
    expect(afterSuccess(timingOut, START).endpoint.times_out).to.equal(false);
  });

  it('has its breaker opened by five failures in a row, which is told once', () => {
    const before = failTimes(OPENS_AFTER - 1);
    expect(before.endpoint.breaker).to.equal('closed');
    const { endpoint, notices } = failTimes(OPENS_AFTER + 3);
    expect(endpoint).to.include({ breaker: 'open', concurrency: 1 });
    expect(endpoint.opened_at).to.deep.equal(START);
    expect(endpoint.probe_at).to.deep.equal(at(PROBE_DELAYS_MS[0]!));
    expect(notices).to.deep.equal(['failing']);
  });

  it('keeps its breaker closed when a success comes between the failures', () => {
    let { endpoint } = failTimes(OPENS_AFTER - 1);
    ({ endpoint } = afterSuccess(endpoint, START));
    expect(failTimes(OPENS_AFTER - 1, endpoint).endpoint.breaker).to.equal('closed');
  });

  it('is probed ever more rarely while probes fail, up to a limit', () => {
    let { endpoint } = failTimes(OPENS_AFTER);
    const delays = [];
    for (let n = 0; n < PROBE_DELAYS_MS.length + 1; n += 1) {
      const probedAt = endpoint.probe_at!;
      ({ endpoint } = afterFailure(endpoint, timeout, probedAt));
      delays.push(endpoint.probe_at!.getTime() - probedAt.getTime());
    }
    const last = PROBE_DELAYS_MS.at(-1)!;
    expect(delays).to.deep.equal([...PROBE_DELAYS_MS.slice(1), last, last]);
  });

  it('is not probed later because of an attempt that began before the breaker opened', () => {
    const { endpoint } = failTimes(OPENS_AFTER);
    const after = afterFailure(endpoint, timeout, at(PROBE_DELAYS_MS[0]! - 1)).endpoint;
    expect(after.probe_at).to.deep.equal(endpoint.probe_at);
    expect(after.probes).to.equal(0);
  });

  it('has its breaker closed by one success, and begins with one delivery at once', () => {
    const { endpoint } = failTimes(OPENS_AFTER);
    const { endpoint: well, notice } = afterSuccess(
      { ...endpoint, told_exhausted_at: START },
      at(1),
    );
    expect(well).to.include({ breaker: 'closed', concurrency: 1, failures: 0, probes: 0 });
    expect(well).to.include({ failing_since: null, opened_at: null, probe_at: null });
    expect(well.last_success_at).to.deep.equal(at(1));
    expect(notice).to.equal('recovered');
    expect(afterSuccess(well, at(2)).notice).to.equal(null);
  });
});
