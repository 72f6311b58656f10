import { expect } from 'chai';
import {
  CHANNELS,
  channelOfPhone,
  channelsFromText,
} from '../../../src/domain/channels/channel.ts';
import { isKenyanMobile } from '../../../src/domain/text.ts';

const M_PESA = 63902;
const AIRTEL = 63903;
const T_KASH = 63907;

/** First and last prefix of a range, and the channel of its carrier. */
const CARRIERS: [first: number, last: number, channel: number | null][] = [
  [100, 109, AIRTEL],
  [110, 119, M_PESA],
  [120, 120, T_KASH],
  [121, 124, null],
  [130, 139, null],
  [140, 149, M_PESA],
  [180, 189, null],
  [700, 729, M_PESA],
  [730, 739, AIRTEL],
  [740, 743, M_PESA],
  [744, 744, null],
  [745, 746, M_PESA],
  [747, 747, null],
  [748, 749, M_PESA],
  [750, 756, AIRTEL],
  [757, 759, M_PESA],
  [760, 760, null],
  [761, 762, AIRTEL],
  [763, 767, null],
  [768, 769, M_PESA],
  [770, 779, T_KASH],
  [780, 789, AIRTEL],
  [790, 799, M_PESA],
];

describe('The channel of a phone', () => {
  for (const [first, last, channel] of CARRIERS) {
    const prefixes = Array.from({ length: last - first + 1 }, (_, index) => first + index);
    it(`is ${channel ?? 'none'} for prefixes ${first} to ${last}`, () => {
      for (const prefix of prefixes) {
        expect(channelOfPhone(`+254${prefix}123456`), String(prefix)).to.equal(channel);
      }
    });
  }

  it('is one that exists, or none, for every Kenyan mobile prefix', () => {
    const codes = [null, ...CHANNELS.map(({ code }) => code)];
    for (let prefix = 100; prefix <= 999; prefix += 1) {
      const phone = `+254${prefix}123456`;
      if (isKenyanMobile(phone)) expect(channelOfPhone(phone), phone).to.be.oneOf(codes);
    }
  });
});

describe('The list of channels with their drivers', () => {
  const READ: Readonly<Record<string, [number, string][]>> = {
    '63902=daraja': [[M_PESA, 'daraja']],
    ' 63902=daraja , 63903=simulator ': [
      [M_PESA, 'daraja'],
      [AIRTEL, 'simulator'],
    ],
    '63907=a-driver-2,': [[T_KASH, 'a-driver-2']],
    '': [],
  };
  for (const [text, drivers] of Object.entries(READ)) {
    it(`is read from ${JSON.stringify(text)}`, () => {
      expect([...channelsFromText(text)]).to.deep.equal(drivers);
    });
  }

  const WRONG = [
    '63902',
    '63902=',
    '=simulator',
    '63902:simulator',
    '63902=Simulator',
    '63902=simulator=x',
    '63902=simulator;63903=simulator',
    '63902= simulator x',
    '77777=simulator',
    '-63902=simulator',
    '63902.0=simulator',
    '63902=simulator,nonsense',
    '63902=simulator,63902=daraja',
  ];
  for (const text of WRONG) {
    it(`is refused when it is ${text}, without repeating it`, () => {
      expect(() => channelsFromText(text))
        .to.throw()
        .with.property('message')
        .that.does.not.include(text);
    });
  }
});

describe('Channels', () => {
  it('have distinct codes and names', () => {
    expect(new Set(CHANNELS.map(({ code }) => code)).size).to.equal(CHANNELS.length);
    expect(new Set(CHANNELS.map(({ name }) => name)).size).to.equal(CHANNELS.length);
  });
});
