import { expect } from 'chai';
import { eventually } from '../../support/gateway-fixtures.ts';
import {
  type Caller,
  type Json,
  PATHS,
  parametersOf,
  phoneOf,
  resultOf,
  SHORT_CODE,
  startCaller,
} from './daraja-caller.ts';

const AT_ONCE = 10;
const RECEIPT = /^[A-Z][A-Z0-9]{9}$/;

describe('Daraja simulator: payouts, reversals and questions', () => {
  let caller: Caller;
  let names = 0;
  before(async () => {
    caller = await startCaller();
  });
  after(() => caller.close());

  const newName = () => `post-${names++}`;

  /** Sends what `make` makes for a new address, and returns the acknowledgement and the result. */
  async function ask(path: string, make: (name: string) => Json) {
    const name = newName();
    const { status, body } = await caller.post(path, make(name));
    expect(status, JSON.stringify(body)).to.equal(200);
    return { acknowledgement: body, callback: (await caller.callbacks(name))[0]! };
  }
  const pay = (phone: string, fields = {}) =>
    ask(PATHS.b2c, (name) => caller.bodies.b2c(phone, name, fields));
  const reverse = (receipt: unknown, fields = {}) =>
    ask(PATHS.reversal, (name) => caller.bodies.reversal(receipt, name, fields));
  const statusOf = async (asked: Json) =>
    (await ask(PATHS.transactionStatus, (name) => caller.bodies.transactionStatus(asked, name)))
      .callback;
  const codeOf = (callback: Json) => String(resultOf(callback).ResultCode);

  async function collect(phone: string): Promise<string> {
    await caller.post(PATHS.stkPush, caller.bodies.stkPush(phone, newName()));
    return eventually(
      async () =>
        (await caller.statement()).find(({ account }) => account === `+${phone}`)?.trans_id,
    );
  }

  describe('payouts', () => {
    it('gives back the OriginatorConversationID, and a result with what was paid', async () => {
      const phone = phoneOf('000');
      const { acknowledgement, callback } = await pay(phone, {
        OriginatorConversationID: 'our-1',
        Amount: 250,
      });
      expect(acknowledgement).to.include({
        ResponseCode: '0',
        OriginatorConversationID: 'our-1',
      });
      expect(acknowledgement.ConversationID).to.match(/^AG_\d{8}_[0-9a-f]{20}$/);
      const result = resultOf(callback);
      expect(result).to.include({
        OriginatorConversationID: 'our-1',
        ConversationID: acknowledgement.ConversationID,
      });
      const parameters = parametersOf(callback);
      expect(result.TransactionID).to.match(RECEIPT).and.equal(parameters.TransactionReceipt);
      expect(parameters.TransactionAmount).to.equal(250);
      expect(parameters.ReceiverPartyPublicName).to.match(new RegExp(`^${phone} - `));
      expect(parameters.TransactionCompletedDateTime).to.match(
        /^\d\d\.\d\d\.\d{4} \d\d:\d\d:\d\d$/,
      );
      expect(result.ReferenceData.ReferenceItem).to.have.keys('Key', 'Value');
    });

    it('takes each OriginatorConversationID once', async () => {
      const body = caller.bodies.b2c(phoneOf('000'), newName());
      expect((await caller.post(PATHS.b2c, body)).status).to.equal(200);
      const again = await caller.post(PATHS.b2c, body);
      expect(again.status).to.equal(500);
      expect(again.body).to.include({
        errorCode: '500.002.1001',
        errorMessage: 'Duplicate OriginatorConversationID.',
      });
    });

    it('takes one of many that come at once', async () => {
      const phone = phoneOf('000');
      const name = newName();
      const body = caller.bodies.b2c(phone, name);
      const answers = await Promise.all(
        Array.from({ length: AT_ONCE }, () => caller.post(PATHS.b2c, body)),
      );
      expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
      await caller.callbacks(name);
      const lines = (await caller.statement()).filter(({ account }) => account === `+${phone}`);
      expect(lines).to.have.length(1);
    });

    it('writes codes as numbers and as text, and one parameter without a list', async () => {
      const types = new Set<string>();
      const shapes = new Set<string>();
      await eventually(async () => {
        const result = resultOf((await pay(phoneOf('001'))).callback);
        types.add(typeof result.ResultCode);
        const parameter = result.ResultParameters?.ResultParameter;
        shapes.add(Array.isArray(parameter) ? 'list' : typeof parameter);
        return types.size === 2 && shapes.size === 2;
      });
      expect([...types].sort()).to.deep.equal(['number', 'string']);
      expect([...shapes].sort()).to.deep.equal(['object', 'undefined']);
    });

    it('says in the same form that it waited too long, at the other address', async () => {
      const name = newName();
      await caller.post(PATHS.b2c, caller.bodies.b2c(phoneOf('123'), name));
      const [timeout] = await caller.callbacks(`${name}-timeout`);
      const [result] = await caller.callbacks(name);
      expect(codeOf(timeout!)).to.not.equal('0');
      expect(codeOf(result!)).to.equal('0');
      expect(resultOf(timeout!).ConversationID).to.equal(resultOf(result!).ConversationID);
    });
  });

  describe('reversals', () => {
    it('gives a collection back, once', async () => {
      const receipt = await collect(phoneOf('000'));
      const { acknowledgement, callback } = await reverse(receipt);
      expect(codeOf(callback)).to.equal('0');
      expect(resultOf(callback).OriginatorConversationID).to.equal(
        acknowledgement.OriginatorConversationID,
      );
      expect(parametersOf(callback)).to.include({ Amount: 100, OriginalTransactionID: receipt });
      expect(parametersOf(callback).TransCompletedTime).to.match(/^\d{14}$/);
      expect(codeOf((await reverse(receipt)).callback)).to.equal('R000001');
    });

    it('knows no other receipt, no payout and no other amount', async () => {
      const payout = resultOf((await pay(phoneOf('000'))).callback).TransactionID;
      expect(codeOf((await reverse('SJK3ABCDE1')).callback)).to.equal('R000002');
      expect(codeOf((await reverse(payout)).callback)).to.equal('R000002');
      const receipt = await collect(phoneOf('000'));
      expect(codeOf((await reverse(receipt, { Amount: '99' })).callback)).to.equal('2006');
      expect(codeOf((await reverse(receipt)).callback)).to.equal('0');
    });
  });

  describe('transaction status', () => {
    it('tells the fate of a payout by the reference of its caller, and by its receipt', async () => {
      const { acknowledgement, callback } = await pay(phoneOf('000'));
      const { OriginatorConversationID, ConversationID } = acknowledgement;
      const ReceiptNo = resultOf(callback).TransactionID;
      for (const asked of [
        { OriginalConversationID: OriginatorConversationID },
        { TransactionID: ReceiptNo },
      ]) {
        const answer = await statusOf(asked);
        expect(codeOf(answer)).to.equal('0');
        expect(resultOf(answer).ConversationID).to.not.equal(ConversationID);
        expect(parametersOf(answer)).to.include({
          ...{ TransactionStatus: 'Completed', Amount: 100 },
          ...{ OriginatorConversationID, ConversationID, ReceiptNo },
        });
        expect(String(parametersOf(answer).FinalisedTime)).to.match(/^\d{14}$/);
      }
    });

    it('tells an open payout and a failed one apart from one that succeeded', async () => {
      const open = caller.bodies.b2c(phoneOf('108'), newName());
      await caller.post(PATHS.b2c, open);
      const answer = await statusOf({ OriginalConversationID: open.OriginatorConversationID });
      expect(parametersOf(answer)).to.include({ TransactionStatus: 'Authorized' });
      const { acknowledgement } = await pay(phoneOf('001'));
      const asked = { OriginalConversationID: acknowledgement.OriginatorConversationID };
      expect(parametersOf(await statusOf(asked))).to.include({ TransactionStatus: 'Declined' });
    });

    it('tells the fate of collections by their receipt only, and of reversals', async () => {
      const phone = phoneOf('000');
      const push = await caller.post(PATHS.stkPush, caller.bodies.stkPush(phone, newName()));
      const receipt = await eventually(
        async () =>
          (await caller.statement()).find((line) => line.account === `+${phone}`)?.trans_id,
      );
      const answer = await statusOf({ TransactionID: receipt });
      expect(parametersOf(answer)).to.include({ TransactionStatus: 'Completed' });
      const { MerchantRequestID, CheckoutRequestID } = push.body;
      for (const id of [MerchantRequestID, CheckoutRequestID]) {
        expect(codeOf(await statusOf({ OriginalConversationID: id }))).to.not.equal('0');
      }
      const { acknowledgement } = await reverse(receipt);
      const asked = { OriginalConversationID: acknowledgement.OriginatorConversationID };
      expect(parametersOf(await statusOf(asked))).to.include({ TransactionStatus: 'Completed' });
    });

    it('says that it does not know a payout that never arrived, which may then come again', async () => {
      const body = caller.bodies.b2c(phoneOf('105'), newName());
      await caller.post(PATHS.b2c, body).catch(() => {});
      const answer = await statusOf({ OriginalConversationID: body.OriginatorConversationID });
      expect(codeOf(answer)).to.not.equal('0');
      expect(resultOf(answer).ResultDesc).to.contain('does not exist');
      expect((await caller.post(PATHS.b2c, body)).status).to.equal(200);
    });
  });

  it('shows the float in the accounts of a shortcode, and declines payouts beyond it', async () => {
    const poor = await startCaller({ floatCents: 150_00 });
    const name = 'poor';
    const outcome = async (path: string, body: Json, at: string) => {
      await poor.post(path, body);
      return (await poor.callbacks(at))[0]!;
    };
    const balance = async (at: string) =>
      parametersOf(await outcome(PATHS.accountBalance, poor.bodies.accountBalance(at), at));
    const first = await balance('balance-1');
    expect(String(first.AccountBalance).split('&')).to.include.members([
      'Utility Account|KES|150.00|150.00|0.00|0.00',
      'Charges Paid Account|KES|0.00|0.00|0.00|0.00',
    ]);
    expect(first.BOCompletedTime).to.be.a('number');
    const payout = (at: string) => outcome(PATHS.b2c, poor.bodies.b2c(phoneOf('000'), at), at);
    expect(codeOf(await payout(`${name}-1`))).to.equal('0');
    expect(codeOf(await payout(`${name}-2`))).to.equal('1');
    await outcome(PATHS.stkPush, poor.bodies.stkPush(phoneOf('000'), 'in'), 'in');
    expect((await balance('balance-2')).AccountBalance).to.contain('Utility Account|KES|150.00|');
    await poor.close();
  });

  it('tells the name of an organisation at once', async () => {
    const asked = { IdentifierType: '4', Identifier: SHORT_CODE };
    const { body } = await caller.post(PATHS.organization, asked);
    expect(body).to.include({ ResponseCode: '4000', OrganizationShortCode: SHORT_CODE });
    expect(body.OrganizationName).to.be.a('string');
  });
});
