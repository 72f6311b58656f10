import { expect } from 'chai';
import { noticeText } from '../../../src/workers/notices.ts';

const MOST = 200;
const NOW = new Date('2026-11-20T09:00:00Z');

describe('The notice of an outage', () => {
  const lastFailure = (last_error: string) => {
    const { text } = noticeText({
      ...{ id: 'n', merchant_id: 1, merchant_name: 'Shop', email: 'shop@shop.example' },
      ...{ kind: 'failing', endpoint: 'https://shop.example', failing_since: NOW },
      ...{ last_status: null, last_error, created_at: NOW, tries: 1 },
      ...{ emailed_at: null, posted_at: null, waiting: 1, is_held: true, emailed_lately: 0 },
    });
    return /^Last failure: no answer \((.*)\)$/m.exec(text)![1];
  };

  it('has the beginning of a long error, cut between two characters', () => {
    const whole = `${'x'.repeat(MOST - 1)}🎉`;
    expect(lastFailure(`${whole} and more`)).to.equal(whole);
    expect(lastFailure(whole)).to.equal(whole);
  });
});
