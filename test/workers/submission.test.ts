import { expect } from 'chai';
import { type AnyPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { failedHere } from '../../src/domain/support/resolution.ts';
import type { Gateway, SubmitRequest } from '../../src/gateways/gateway.ts';
import type { Service } from '../../src/service/service.ts';
import { type Deadline, msUntil } from '../../src/time.ts';
import { submitPayment } from '../../src/workers/submission.ts';
import { refund } from '../support/discrepancies/scene.ts';
import { CLOCKS, type Clock, withFreeze } from '../support/frozen.ts';
import { ACKNOWLEDGED, NEVER, NOT_FOUND, useStore } from '../support/world.ts';

const FROZEN_MS = 60_000;

describe('A submission', () => {
  const store = useStore();
  let service: Service;
  let requests: SubmitRequest[];
  let payout: AnyPayment;

  const gateway: Gateway = {
    name: 'simulator',
    resubmit: () => 'safe',
    settlingWindowMs: 0,
    answerWindowMs: 0,
    amounts: {},
    submit: async (request) => {
      requests.push(request);
      return ACKNOWLEDGED;
    },
    query: async () => ({ outcome: 'pending' }),
    parseCallback: () => null,
  };

  before(async () => {
    const real = store.parts();
    service = { ...real, gateways: new Map([[gateway.name, gateway]]) };
  });

  beforeEach(async () => {
    requests = [];
    payout = await store.newPayout();
  });

  /** Freezes the worker after its claim, when it reads a setting for the request. */
  const submitFrozen = (clock: Clock) =>
    withFreeze(clock, FROZEN_MS, (freeze) => {
      const config = {
        ...service.config,
        get secretsKeys() {
          freeze();
          return service.config.secretsKeys;
        },
      };
      return submitPayment({ ...service, config }, refOf(payout), payout.step_no);
    });

  for (const clock of Object.keys(CLOCKS) as Clock[]) {
    it(`is not made with a claim that is too old by the ${clock} clock, and is asked about`, async () => {
      await submitFrozen(clock);
      expect(requests).to.deep.equal([]);
      const work = store.workOn(payout);
      expect(await work.current()).to.include({ status: 'pending', next_step: 'poll' });
      expect(await work.results()).to.deep.equal(['not_taken']);
      expect(await work.hear(NOT_FOUND, NEVER)).to.include({ next_step: 'submit' });
      expect(await work.claim()).to.include({ attemptNo: 2 });
    });
  }

  it('is not made when support has failed and refunded the payment during a freeze', async () => {
    const work = store.workOn(payout);
    const claimed = (await work.claim())!;
    await store.learn(payout, failedHere('Not carried out'), 'support');
    await refund({ database: store.database, merchant: store.merchant }, payout);
    await work.answer(claimed, { outcome: 'notCalled', reason: 'the claim was too old' });
    expect(await work.current()).to.include({ status: 'failed', next_step: null });
    expect(await store.discrepanciesOf(payout.id)).to.deep.equal([]);
    await store.expectSoundLedger();
  });

  it('gives its driver a deadline of the longest wait', async () => {
    await submitPayment(service, refOf(payout), payout.step_no);
    const deadline: Deadline = requests[0]!.deadline;
    expect(msUntil(deadline)).to.be.at.most(service.config.gatewayTimeoutMs);
    const other = { ...deadline, wallMs: Number.POSITIVE_INFINITY };
    expect(msUntil(other)).to.be.at.most(service.config.gatewayTimeoutMs);
  });
});
