import { expect } from 'chai';
import {
  type DarajaSimulator,
  startDarajaSimulator,
} from '../../scripts/daraja-simulator/server.ts';
import { topUpPayoutWallet } from '../../scripts/sandbox/top-up.ts';
import { rows } from '../../src/connections/database.ts';
import { countOpen } from '../../src/domain/payments/list-payments.ts';
import { type Client, clientOf, payoutBody, reversalBody } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { expectSoundLedger } from '../support/ledger-check.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';
import { startTestService, type TestService } from '../support/test-service.ts';

const [OLD, NEW] = ['600980', '600981'];
const WALLET_CENTS = 1_000_000;

describe('The move to another shortcode', () => {
  let simulator: DarajaSimulator;
  let earlier: TestService;
  let later: TestService;
  let merchant: TestMerchant;

  before(async () => {
    simulator = await startDarajaSimulator({ port: 0, delayMs: 20, log: () => {} });
    // Nothing is submitted before the move.
    earlier = await startTestService({ workers: ['dispatcher'], env: envWith(OLD, [OLD]) });
    merchant = await createTestMerchant(earlier);
    const { merchant_id } = merchant;
    await topUpPayoutWallet(earlier.database, merchant_id, WALLET_CENTS, 'top-up');
  });

  after(async () => {
    await later?.close();
    await earlier.close();
    await simulator.close();
  });

  function envWith(routed: string, shortcodes: string[]): Record<string, string> {
    const whole = {
      ...{ consumer_key: 'key', consumer_secret: 'secret', passkey: 'passkey' },
      ...{ initiator: 'testapi', security_credential: `${'A'.repeat(342)}==` },
    };
    const DARAJA = JSON.stringify({
      ...{ base_url: simulator.url, collections: routed, payouts: routed },
      shortcodes: Object.fromEntries(shortcodes.map((each) => [each, whole])),
    });
    return { CHANNELS: '63902=daraja', DARAJA };
  }

  async function refNoOf(answer: ReturnType<Client['post']>): Promise<string> {
    const { status, body } = await answer;
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.ref_no;
  }

  /** The gateways of the movements of these payments, once each has one. */
  function moved(...refNos: string[]): Promise<Record<string, string>> {
    return eventually('the money to move', async () => {
      const found = await rows<{ ref_no: string; gateway: string }>(
        earlier.database,
        `SELECT p.ref_no, m.gateway FROM movements m JOIN (
           SELECT id, ref_no FROM collections UNION ALL SELECT id, ref_no FROM payouts
           UNION ALL SELECT id, ref_no FROM reversals) p ON p.id = m.payment_id
         WHERE p.ref_no = ANY(:refNos)`,
        { refNos },
      );
      const gateways = Object.fromEntries(found.map(({ ref_no, gateway }) => [ref_no, gateway]));
      return refNos.every((refNo) => gateways[refNo]) ? gateways : undefined;
    });
  }

  const openAt = (shortcode: string) => countOpen(earlier.database, `daraja-${shortcode}`);

  it('leaves what was accepted with the old one, reversals too, and takes the new one after', async () => {
    const old = clientOf(earlier, merchant);
    const open = await refNoOf(old.initiate());
    const paid = await refNoOf(old.post('/payouts/initiate', payoutBody(merchant)));
    expect(await Promise.all([OLD, NEW].map(openAt))).to.deep.equal([2, 0]);
    later = await startTestService({ beside: earlier, env: envWith(NEW, [OLD, NEW]) });
    const api = clientOf(later, merchant);
    const fresh = await refNoOf(api.initiate());
    const freshPaid = await refNoOf(api.post('/payouts/initiate', payoutBody(merchant)));
    expect(await moved(open, paid, fresh, freshPaid)).to.deep.equal({
      [open]: `daraja-${OLD}`,
      [paid]: `daraja-${OLD}`,
      [fresh]: `daraja-${NEW}`,
      [freshPaid]: `daraja-${NEW}`,
    });
    const back = await refNoOf(api.post('/reversals/initiate', reversalBody(open)));
    expect(await openAt(NEW)).to.equal(0);
    expect(await moved(back)).to.deep.equal({ [back]: `daraja-${OLD}` });
    await expectSoundLedger(earlier.database);
  });
});
