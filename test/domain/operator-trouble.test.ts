import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { listAudit } from '../../src/domain/audit/audit-log.ts';
import { channelPauses, resumeChannel } from '../../src/domain/channels/channel-store.ts';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import { failed, rejection, succeeded, useStore } from '../support/world.ts';

const M_PESA = 63902;

describe("The operator's own trouble with a gateway", () => {
  const store = useStore({ fresh: true });

  const trouble = failed({
    code: 90_000,
    description: 'Payout could not be sent, try again later',
    operatorTrouble: '1 The balance is insufficient for the transaction',
  });
  const newOut = () => store.newPayout();
  const failOne = async () => store.hear(await newOut(), trouble);
  const pauses = async () => (await channelPauses(store.database)).get(M_PESA);

  it('fails the payout with words that blame nobody else', async () => {
    expect(await failOne()).to.include({
      status: 'failed',
      result_code: 90_000,
      result_description: 'Payout could not be sent, try again later',
      next_step: 'refund',
    });
  });

  it('pauses what goes out after three in a row, says why, and lets collections go on', async () => {
    const waiting = await newOut();
    await failOne();
    await failOne();
    expect(await pauses()).to.equal(undefined);
    await failOne();
    expect(await pauses()).to.deep.include({ what: ['payouts'], paused_by: 'malipo' });
    expect((await pauses())!.reason).to.contain('The balance is insufficient');
    const [line] = await listAudit(store.database, { after: undefined, limit: 1 });
    expect(line).to.include({ actor: 'malipo', action: 'channel.pause' });
    expect(await rejection(newOut())).to.include({ code: 'channel_paused' });
    await store.newCollection();
    expect(refOf(waiting).kind).to.equal('payout');
  });

  it('begins to count anew after a success', async () => {
    await failOne();
    await failOne();
    await store.hear(await newOut(), succeeded({ completedAt: null }));
    await failOne();
    await failOne();
    expect(await pauses()).to.equal(undefined);
    await failOne();
    expect(await pauses()).to.not.equal(undefined);
  });

  it('counts anew after an operator has resumed the channel', async () => {
    for (let count = 0; count < 3; count += 1) await failOne();
    await store.transaction((trx) => resumeChannel(trx, M_PESA));
    await failOne();
    await failOne();
    expect(await pauses()).to.equal(undefined);
  });

  it('does not count what is the recipient’s or the merchant’s matter', async () => {
    for (let count = 0; count < 5; count += 1) await store.hear(await newOut(), failed());
    expect(await pauses()).to.equal(undefined);
  });

  it('with reversals pauses what goes back to customers, and lets payouts go on', async () => {
    for (let count = 0; count < 3; count += 1) {
      await store.hear(await store.newReversal(), trouble);
    }
    expect(await pauses()).to.deep.include({ what: ['reversals'] });
    await newOut();
    for (let count = 0; count < 3; count += 1) await failOne();
    expect(await pauses()).to.deep.include({ what: ['reversals', 'payouts'] });
  });

  it('is over after a day', async () => {
    await failOne();
    await rows(
      store.owner,
      "UPDATE operator_troubles SET happened_at = happened_at - interval '25 hours'",
    );
    await failOne();
    await failOne();
    expect(await pauses()).to.equal(undefined);
  });

  it('with requests for payment pauses the whole channel', async () => {
    for (let count = 0; count < 3; count += 1) {
      await store.hear(await store.newCollection(), trouble);
    }
    expect(await pauses()).to.include({ what: null });
  });
});
