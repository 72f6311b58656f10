import { expect } from 'chai';
import { firstRow, rows } from '../../src/connections/database.ts';
import { otherDatabase } from '../../src/domain/upkeep/other-database.ts';
import { DAY_MS } from '../../src/time.ts';
import { clientOf, payoutBody, request } from '../support/api-client.ts';
import { type Order, originalOf } from '../support/chaos-mix.ts';
import { sendOrder } from '../support/chaos-shop.ts';
import { type DrillWorld, startDrillWorld } from '../support/drill-world.ts';
import { eventually } from '../support/eventually.ts';
import { drillCommands } from '../support/handbook.ts';
import { expectRightBooks } from '../support/ledger-check.ts';
import { countOf } from '../support/payments.ts';

const OPEN_AT_BACKUP = 100;
/** The simulator takes so long for each payment that the backup finds them open. */
const DELAY_MS = 4_000;
/** Of the payment whose callback comes when its database is no more. */
const SLOW_MS = 15_000;
const WITHIN_MS = 90_000;

const UNAVAILABLE = 'Service temporarily unavailable';

/** How payments behave that are open at the backup. The last two move no money. */
const ENDINGS = ['678', '101', '102', '104', '105', '032', '037'];
const MOVES_NOTHING = /0(32|37)$/;

describe('After a restore from a backup, by the steps of the handbook', () => {
  const commands = drillCommands('Backup and restore');
  const unfollowed = new Set(commands.keys());
  const sent: Order[] = [];
  let world: DrillWorld;

  before(async () => {
    world = await startDrillWorld({
      SIMULATOR_DELAY_MS: String(DELAY_MS),
      SIMULATOR_SLOW_SUCCESS_MS: String(SLOW_MS),
    });
  });

  after(() => world.close());

  it('no payment moves twice, all end as the gateway says, and what was lost is listed', async () => {
    await failOneThatSucceedsLate();
    await openPayments();
    await world.crash();
    const open = await countOf(world.database, OPEN);
    expect(open, 'payments that are open in the backup').to.be.at.least(OPEN_AT_BACKUP);
    await world.backUp();
    await world.start();
    await letTheWorldGoOn();
    const lost = await acceptMore();

    await world.crash();
    await world.putBack();
    expect(await otherDatabase(world.database), 'notices the restore').to.not.equal(null);
    await follow('migrate');
    await follow('empty');
    await follow('mark');
    await world.start();
    await follow('asked');
    await expectMoved(lost);
    await follow('reconcile');
    await expectRefusals();
    await follow('asked again');
    await expectNoRefund();
    await follow('check');
    await world.crash();
    await follow('resume');
    expect(await otherDatabase(world.database), 'is resumed').to.equal(null);
    await world.start();

    await expectEnds();
    await expectListed(lost);
    await expectOneMovementEach();
    await expectRightBooks(world.database);
    expect([...unfollowed], 'steps that were not followed').to.deep.equal([]);
    expect((await initiate('taken-after-that')).status).to.equal(200);
  });

  /** Runs a step's commands, with the settings that it exports, and the days that are now. */
  async function run(step: string): Promise<void> {
    const day = (at: number) => new Date(at).toISOString().slice(0, 'YYYY-MM-DD'.length);
    const text = commands
      .get(step)!
      .replace(/^FROM=.*$/m, `FROM=${day(Date.now() - DAY_MS)} TO=${day(Date.now())}`)
      .replaceAll('npm run migrate', 'node --import tsx scripts/migrate.ts');
    for (const [, name, value] of text.matchAll(/^export (\w+)=(.*)$/gm)) {
      world.set({ [name!]: value });
    }
    await world.run(text);
  }

  async function follow(step: string): Promise<void> {
    await run(step);
    unfollowed.delete(step);
  }

  /** Its return is planned, and sent, in the world that is lost. */
  async function failOneThatSucceedsLate(): Promise<void> {
    await send([{ kind: 'collection', refNo: 'late', account: '+254712345107' }]);
    await eventually('the collection to fail', () => isAt('late', 'failed'), WITHIN_MS);
  }

  async function openPayments(): Promise<void> {
    const reversals = ordersOf('reversal', 6, ['678', '110']);
    const originals = reversals.map((order): Order => {
      return { kind: 'collection', refNo: originalOf(order), account: order.account };
    });
    await send(originals);
    for (const { refNo } of originals) {
      await eventually(`${refNo} to complete`, () => isAt(refNo, 'completed'), WITHIN_MS);
    }
    await send([...ordersOf('collection', 21), ...ordersOf('payout', 14), ...reversals]);
    await eventually(
      'all calls to be answered',
      async () => !(await countOf(world.database, 'attempts WHERE result IS NULL')),
    );
    // The backup does not know that these are submitted later.
    await world.kill('submission');
    await send([
      ...ordersOf('collection', 56, ENDINGS, 'unsent'),
      ...ordersOf('payout', 49, ENDINGS, 'unsent'),
    ]);
  }

  /** The late success may have been called back while nobody listened: the statement has it. */
  async function letTheWorldGoOn(): Promise<void> {
    const isOver = async () => !(await countOf(world.database, OPEN));
    await eventually('everything to end after the backup', isOver, WITHIN_MS);
    const isListed = async () => (await movementsOf('late')).length === 1;
    await eventually('the late success', isListed, WITHIN_MS);
    await run('reconcile');
    const isReturned = () => countOf(world.database, "returns WHERE status = 'completed'");
    await eventually('the return of the late money', isReturned, WITHIN_MS);
  }

  /** @returns our references of the payments that the backup does not have. */
  async function acceptMore(): Promise<string[]> {
    const orders = [
      ...ordersOf('collection', 3, ['678'], 'lost'),
      ...ordersOf('payout', 3, ['678'], 'lost'),
    ];
    const [reversal] = ordersOf('reversal', 1, ['678'], 'lost');
    sent.push({ ...reversal!, kind: 'collection', refNo: originalOf(reversal!) });
    await Promise.all([send(orders), send([reversal!])]);
    await eventually(
      'what came later to end',
      async () => !(await countOf(world.database, OPEN)),
      WITHIN_MS,
    );
    await send([{ kind: 'collection', refNo: 'lost-slow', account: '+254712345108' }]);
    await eventually('the slow one to be taken', () => isAt('lost-slow', 'processing'), WITHIN_MS);
    const found = await rows<{ reference: string }>(
      world.database,
      `SELECT reference FROM (${ALL}) p WHERE ref_no LIKE '%lost%'`,
    );
    return found.map(({ reference }) => reference);
  }

  function send(orders: Order[]): Promise<unknown> {
    const { baseUrl, merchant, receiver } = world;
    const shop = { baseUrl, merchant, callbackUrl: receiver.url };
    sent.push(...orders);
    return Promise.all(orders.map((order) => sendOrder(shop, order)));
  }

  const initiate = (refNo: string) => clientOf(world, world.merchant).initiate({ ref_no: refNo });

  /** What moves after the statement was asked for would be in the next one only. */
  async function expectMoved(references: string[]): Promise<void> {
    await eventually(
      'all that was lost to move',
      async () => {
        const moved = (await statement()).map(({ reference }) => reference);
        return references.every((reference) => moved.includes(reference));
      },
      WITHIN_MS,
    );
  }

  /** Of all kinds: the collection that would be reversed has ended meanwhile. */
  async function expectRefusals(): Promise<void> {
    const { post } = clientOf(world, world.merchant);
    const callback_url = world.receiver.url;
    const refusals = await Promise.all([
      initiate('refused-1'),
      post('/payouts/initiate', payoutBody(world.merchant, { ref_no: 'refused-2' })),
      post('/reversals/initiate', {
        checkout_ref_no: 'open-collection-0',
        ref_no: 'refused-3',
        callback_url,
      }),
    ]);
    for (const { status, body } of refusals) {
      expect([status, body.detail ?? body.message]).to.deep.equal([503, UNAVAILABLE]);
    }
  }

  /** A success that the statement shows must find the payout's money where it was. */
  async function expectNoRefund(): Promise<void> {
    const refunds = `payouts WHERE refund_posted_at > (
      SELECT max(happened_at) FROM audit_log WHERE action = 'restore.mark')`;
    expect(await countOf(world.database, refunds), 'refunds before the end').to.equal(0);
    const waiting = await countOf(world.database, "payouts WHERE next_step = 'refund'");
    expect(waiting, 'refunds that wait').to.be.above(0);
  }

  async function isAt(refNo: string, status: string): Promise<boolean> {
    const row = await firstRow<{ status: string }>(
      world.database,
      'SELECT status FROM collections WHERE ref_no = :refNo',
      { refNo },
    );
    return row?.status === status;
  }

  const statement = async (): Promise<{ reference: string }[]> =>
    (await request('GET', `${world.simulatorUrl}/statement`)).body;

  async function movementsOf(refNo: string): Promise<{ reference: string }[]> {
    const row = await firstRow<{ reference: string }>(
      world.database,
      'SELECT reference FROM collections WHERE ref_no = :refNo',
      { refNo },
    );
    return (await statement()).filter(({ reference }) => reference === row?.reference);
  }

  async function expectEnds(): Promise<void> {
    const isOver = async () =>
      !(await countOf(world.database, `(${ALL}) p WHERE next_step IS NOT NULL`));
    await eventually('every restored payment to end', isOver, WITHIN_MS);
    const isTold = async () =>
      !(await countOf(world.database, "webhook_deliveries WHERE status <> 'delivered'"));
    await eventually('the merchant to hear of them', isTold, WITHIN_MS);
    const payments = await rows<{ reference: string; ref_no: string; status: string }>(
      world.database,
      `SELECT reference, ref_no, status FROM (${ALL}) p`,
    );
    expect(payments.length).to.be.at.least(OPEN_AT_BACKUP);
    const moved = new Set((await statement()).map(({ reference }) => reference));
    for (const { reference, ref_no, status } of payments) {
      const end = moved.has(reference) && ref_no !== 'late' ? 'completed' : 'failed';
      expect(status, `the end of ${ref_no}`).to.equal(end);
    }
    expect(await countOf(world.database, "returns WHERE status = 'completed'")).to.equal(1);
    expect(await countOf(world.database, 'returns')).to.equal(1);
  }

  /** Counted too, since a payment that went out under another reference would be one more. */
  async function expectOneMovementEach(): Promise<void> {
    const references = (await statement()).map(({ reference }) => reference);
    expect(new Set(references).size, 'references with a movement').to.equal(references.length);
    const moving = sent.filter(({ account }) => !MOVES_NOTHING.test(account));
    const andTheReturn = 1;
    expect(references.length, 'movements').to.equal(moving.length + andTheReturn);
  }

  async function expectListed(lost: string[]): Promise<void> {
    const listed = () =>
      rows<{ reference: string }>(
        world.database,
        `SELECT details->>'reference' AS reference FROM discrepancies
         WHERE kind IN ('unknown_movement', 'unknown_payment') AND resolved_at IS NULL`,
      );
    // The callback of the slow one may still be on its way.
    await eventually('all to be listed', async () => (await listed()).length >= lost.length);
    const references = (await listed()).map(({ reference }) => reference);
    expect(references).to.have.members(lost);
  }
});

const ALL = ['collections', 'payouts', 'reversals']
  .map((table) => `SELECT reference, ref_no, status, next_step FROM ${table}`)
  .join(' UNION ALL ');
const OPEN = `(SELECT status FROM (${ALL}) p UNION ALL SELECT status FROM returns) p
  WHERE status IN ('pending', 'processing')`;

function ordersOf(
  kind: Order['kind'],
  count: number,
  endings: string[] = ENDINGS,
  name = 'open',
): Order[] {
  return Array.from({ length: count }, (_, index) => ({
    kind,
    refNo: `${name}-${kind}-${index}`,
    account: `+254712345${endings[index % endings.length]}`,
  }));
}
