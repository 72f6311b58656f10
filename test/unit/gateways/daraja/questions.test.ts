import { expect } from 'chai';
import type { QueryRequest } from '../../../../src/gateways/gateway.ts';
import { Pace } from '../../../../src/gateways/pace.ts';
import { aConfig, aGateway, aQuestion, SHORTCODE, startDaraja } from './daraja-support.ts';

const TAKEN = {
  ResponseCode: '0',
  ResponseDescription: 'Accept the service request successfully.',
};
const ERROR = { requestId: '1', errorCode: '500.001.1001' };

describe('questions to Daraja', () => {
  let daraja: Awaited<ReturnType<typeof startDaraja>>;
  let pace: Pace;
  before(async () => {
    daraja = await startDaraja();
  });
  after(() => daraja.close());
  beforeEach(() => {
    pace = new Pace();
  });

  const query = (question: QueryRequest, status: number, body: unknown) => {
    daraja.answers(status, body);
    return aGateway(daraja.client, aConfig(), pace).query(question);
  };

  describe('about prompts', () => {
    const ask = (status: number, body: unknown) => query(aQuestion('collection'), status, body);
    const result = (ResultCode: unknown, others: object = {}) => ({
      ...TAKEN,
      CheckoutRequestID: 'ext-1',
      ResultCode,
      ResultDesc: 'Words',
      ...others,
    });

    it('name the prompt and are authorised', async () => {
      await ask(200, result('0'));
      const { path, body } = daraja.requests[0]!;
      expect(path).to.equal('/mpesa/stkpushquery/v1/query');
      expect(body).to.include({ BusinessShortCode: 174379, CheckoutRequestID: 'ext-1' });
      expect(body).to.include.all.keys('Password', 'Timestamp');
    });

    it('tell a success without receipt and amount', async () => {
      expect(await ask(200, result('0'))).to.deep.equal({
        outcome: 'succeeded',
        transId: null,
        externalRef: 'ext-1',
        amountCents: null,
        account: null,
        description: 'Processed',
        completedAt: null,
      });
    });

    it('tell failures', async () => {
      expect(await ask(200, result(1032))).to.include({ outcome: 'failed', code: 1032 });
      expect(await ask(200, result('2028'))).to.include({ outcome: 'failed', code: 90_000 });
    });

    it('say that a prompt is under way', async () => {
      const words = { ResultDesc: 'The transaction is still under processing' };
      for (const body of [result('4999'), result('1037', words)]) {
        expect(await ask(200, body)).to.deep.equal({ outcome: 'pending' });
      }
      const error = { ...ERROR, errorMessage: 'Request still under processing' };
      expect(await ask(500, error)).to.deep.equal({ outcome: 'pending' });
    });

    it('bring no answer rather than a guess', async () => {
      const answers: [number, unknown][] = [
        [500, { ...ERROR, errorMessage: 'The transaction is being processed' }],
        [500, { ...ERROR, errorMessage: '' }],
        [200, { ...ERROR, errorMessage: 'The transaction does not Exist' }],
        [200, result('0', { CheckoutRequestID: 'another' })],
        [200, result(undefined)],
        [200, result('26')],
        [500, result('0')],
        [200, result('0', { ResponseCode: '1' })],
        [503, '<html>'],
        [200, '<html>'],
      ];
      for (const [status, body] of answers) {
        const answer = await ask(status, body);
        expect(answer, JSON.stringify(body)).to.include({ outcome: 'noAnswer' });
        expect(answer).to.not.have.property('unknownCode');
      }
      expect(await ask(200, result('4242'))).to.include({
        outcome: 'noAnswer',
        unknownCode: '4242',
      });
    });

    it('say that Daraja knows no reference of ours when the acknowledgement was lost', async () => {
      const question = aQuestion('collection', { externalRef: null });
      expect(await query(question, 200, result('0'))).to.deep.equal({
        outcome: 'notFound',
      });
      expect(daraja.requests).to.be.empty;
    });
  });

  describe('about payouts, reversals and returns', () => {
    it('name the original request and our addresses', async () => {
      for (const [kind, original] of [
        ['payout', 'ref-1'],
        ['reversal', 'ext-1'],
        ['return', 'ext-1'],
      ] as const) {
        expect(await query(aQuestion(kind), 200, TAKEN)).to.deep.equal({ outcome: 'asked' });
        const { path, body } = daraja.requests[0]!;
        expect(path).to.equal('/mpesa/transactionstatus/v1/query');
        expect(body).to.include({
          Initiator: 'testapi',
          CommandID: 'TransactionStatusQuery',
          OriginalConversationID: original,
          PartyA: SHORTCODE,
          IdentifierType: '4',
          ResultURL: 'https://pay.example.com/answer',
          QueueTimeOutURL: 'https://pay.example.com/timeout',
        });
      }
    });

    it('are not asked without a reference or an address', async () => {
      const questions = [
        aQuestion('reversal', { externalRef: null }),
        aQuestion('payout', { callbackUrl: null }),
        aQuestion('payout', { timeoutUrl: null }),
      ];
      for (const question of questions) {
        expect(await query(question, 200, TAKEN)).to.include({ outcome: 'noAnswer' });
        expect(daraja.requests).to.be.empty;
      }
      expect(await query(aQuestion('payout', { externalRef: null }), 200, TAKEN)).to.include({
        outcome: 'asked',
      });
    });

    it('bring no answer when Daraja does not take them', async () => {
      for (const [status, body] of [
        [500, TAKEN],
        [200, { ...TAKEN, ResponseCode: '1' }],
        [500, { ...ERROR, errorMessage: 'Duplicate' }],
        [403, '<html>'],
      ] as const) {
        expect(await query(aQuestion('payout'), status, body)).to.include({ outcome: 'noAnswer' });
      }
      const slow = pace.pauseMs;
      expect(slow).to.be.above(0);
      await query(aQuestion('payout'), 200, TAKEN);
      expect(pace.pauseMs).to.be.below(slow);
    });
  });
});
