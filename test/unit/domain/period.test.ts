import { expect } from 'chai';
import { periodConditions, spanOf } from '../../../src/domain/period.ts';

describe('An end of a period', () => {
  const SPANS: Readonly<Record<string, [first: string, last: string]>> = {
    '2026-03-01': ['2026-03-01T00:00:00.000000Z', '2026-03-01T23:59:59.999999Z'],
    '2024-02-29': ['2024-02-29T00:00:00.000000Z', '2024-02-29T23:59:59.999999Z'],
    '9999-12-31': ['9999-12-31T00:00:00.000000Z', '9999-12-31T23:59:59.999999Z'],
    '2026-03-01T12:30:00Z': ['2026-03-01T12:30:00.000000Z', '2026-03-01T12:30:00.000999Z'],
    '2026-03-01T12:30:00.5Z': ['2026-03-01T12:30:00.500000Z', '2026-03-01T12:30:00.500999Z'],
    '2026-03-01T12:30:00.123456789Z': [
      '2026-03-01T12:30:00.123000Z',
      '2026-03-01T12:30:00.123999Z',
    ],
    '2026-03-01T01:00:00+03:00': ['2026-02-28T22:00:00.000000Z', '2026-02-28T22:00:00.000999Z'],
    '2026-03-01T01:00:00 03:00': ['2026-02-28T22:00:00.000000Z', '2026-02-28T22:00:00.000999Z'],
    '2026-12-31T23:00:00-01:30': ['2027-01-01T00:30:00.000000Z', '2027-01-01T00:30:00.000999Z'],
  };
  for (const [text, [first, last]] of Object.entries(SPANS)) {
    it(`of ${text} is from ${first} to ${last}`, () => {
      expect(spanOf(text)).to.deep.equal({ first, last });
    });
  }

  const WRONG = [
    ...[
      '',
      'now',
      '2026-02-30',
      '2026-02-29',
      '0000-01-01',
      '2026-3-1',
      '20260301',
      '2026-03-01\n',
    ],
    ...['2026-03-01T12:30:00', '2026-03-01T12:30Z', '2026-03-01 12:30:00Z', '2026-03-01T12:30:00z'],
    ...[
      '2026-02-30T00:00:00Z',
      '2026-03-01T24:00:00Z',
      '2026-03-01T12:60:00Z',
      '2026-03-01T12:30:60Z',
    ],
    ...['2026-03-01T12:30:00.Z', '2026-03-01T12:30:00.1234567890Z', '2026-03-01T12:30:00+0300'],
    ...['2026-03-01T12:30:00+24:00', '0001-01-01T00:00:00+03:00', '9999-12-31T23:59:59-00:01'],
  ];
  for (const text of WRONG) {
    it(`is not ${JSON.stringify(text)}`, () => {
      expect(spanOf(text)).to.equal(null);
    });
  }

  it('is bound, and leaves the statement as it is', () => {
    const [from, to] = ['2026-03-01', '2026-03-01T12:30:00Z'].map((text) => spanOf(text)!);
    expect(periodConditions('t.created_at', {})).to.deep.equal([]);
    expect(periodConditions('t.created_at', { created_from: from!.first })).to.deep.equal(
      periodConditions('t.created_at', { created_from: to!.first }),
    );
  });
});
