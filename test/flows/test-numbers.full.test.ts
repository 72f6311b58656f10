import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { eventually, PROCESS_TYPES, reversalBody, useService } from '../support/world.ts';

const GUIDE = new URL('../../docs/guides/test-numbers.md', import.meta.url);
/** A row of the guide's table: phone, what it shows, and how its payment ends. */
const ROW = /^\| `(\+254\d{9})` \| ([^|]+) \| ([^|]+) \|$/gm;
const NUMBERS = [...readFileSync(GUIDE, 'utf8').matchAll(ROW)].map(([, phone, shows, ends]) => ({
  ...{ phone: phone!, shows: shows!, ends: ends! },
}));
/** The states of a reversal in the answers. */
const [FAILED, COMPLETED] = [2, 3];

describe('The guide’s test numbers', () => {
  // Shorter than the time that the slow network takes in tests.
  const service = useService({ workers: PROCESS_TYPES, env: { REVERSAL_WAIT_MS: '300' } });

  it('are all read', () => expect(NUMBERS).to.have.length(13));

  for (const { phone, shows, ends } of NUMBERS) {
    it(`${phone} shows: ${shows}: ${ends}`, async () => {
      const { client } = service;
      const { body: begun } = await client.initiate({ payfrom: phone });
      const now = async () => (await client.get(`/collections/checkouts/${begun.id}`)).body;
      if (ends.startsWith('stays open')) {
        if (shows.includes('another amount')) {
          await eventually('the question', async () => {
            return (await service.discrepanciesOf(begun.id as string)).length > 0;
          });
        }
        expect((await now()).status).to.be.oneOf(['pending', 'processing']);
        return;
      }
      const ended = await eventually('the end', async () => {
        const payment = await now();
        return ['completed', 'failed'].includes(payment.status as string) && payment;
      });
      expect(ends).to.match(new RegExp(`^${ended.status}`));
      const code = /failed, (?:`result_code` )?(\d+)/.exec(ends)?.[1];
      if (code) expect(ended.result_code).to.equal(Number(code));
      if (ends.includes('the reversal')) await expectReversal(String(begun.ref_no), ends);
    });
  }

  async function expectReversal(refNo: string, ends: string): Promise<void> {
    const { client } = service;
    const body = reversalBody(refNo);
    const answer = await client.post('/reversals/initiate', body);
    const isUnheard = ends.includes('502');
    // A busy machine may not answer within the wait.
    expect(answer.status, JSON.stringify(answer.body)).to.be.oneOf(isUnheard ? [502] : [200, 502]);
    const end = await eventually('the end of the reversal', async () => {
      const { status } = (await client.get(`/reversals/${body.ref_no}`)).body;
      return [FAILED, COMPLETED].includes(status as number) && status;
    });
    expect(end).to.equal(isUnheard ? COMPLETED : FAILED);
  }
});
