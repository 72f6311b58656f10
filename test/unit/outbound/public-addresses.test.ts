import { expect } from 'chai';
import {
  fencedLookup,
  isPublicAddress,
  type RefusedHost,
  refusalOf,
} from '../../../src/outbound/addresses.ts';
import { networksFromText } from '../../../src/process/networks.ts';

/** The registries of special-purpose addresses of IANA, each network with its ends. */
const SPECIAL: Readonly<Record<string, readonly string[]>> = {
  '0.0.0.0/8': ['0.0.0.0', '0.1.2.3', '0.255.255.255'],
  '10.0.0.0/8': ['10.0.0.0', '10.255.255.255'],
  '100.64.0.0/10': ['100.64.0.0', '100.127.255.255'],
  '127.0.0.0/8': ['127.0.0.1', '127.255.255.255'],
  'Azure’s wire server': ['168.63.129.16', '::ffff:168.63.129.16'],
  '169.254.0.0/16': ['169.254.0.0', '169.254.169.254', '169.254.255.255'],
  '172.16.0.0/12': ['172.16.0.0', '172.31.255.255'],
  '192.0.0.0/24': ['192.0.0.0', '192.0.0.8', '192.0.0.170', '192.0.0.255'],
  '192.0.2.0/24': ['192.0.2.0', '192.0.2.255'],
  '192.31.196.0/24': ['192.31.196.0', '192.31.196.255'],
  '192.52.193.0/24': ['192.52.193.0', '192.52.193.255'],
  '192.88.99.0/24': ['192.88.99.0', '192.88.99.255'],
  '192.168.0.0/16': ['192.168.0.0', '192.168.255.255'],
  '192.175.48.0/24': ['192.175.48.0', '192.175.48.255'],
  '198.18.0.0/15': ['198.18.0.0', '198.19.255.255'],
  '198.51.100.0/24': ['198.51.100.0', '198.51.100.255'],
  '203.0.113.0/24': ['203.0.113.0', '203.0.113.255'],
  '224.0.0.0/4': ['224.0.0.0', '239.255.255.255'],
  '240.0.0.0/4': ['240.0.0.0', '255.255.255.255'],
  '::/96': ['::', '::1', '::10.0.0.1', '::8.8.8.8'],
  '::ffff:0:0/96': ['::ffff:10.0.0.1', '::ffff:169.254.169.254', '::ffff:c0a8:1'],
  '::ffff:0:0:0/96': ['::ffff:0:8.8.8.8'],
  '64:ff9b::/96': ['64:ff9b::10.0.0.1', '64:ff9b::8.8.8.8'],
  '64:ff9b:1::/48': ['64:ff9b:1::10.0.0.1'],
  '100::/64': ['100::', '100::ffff:ffff:ffff:ffff'],
  '100:0:0:1::/64': ['100:0:0:1::1'],
  '2001::/23': ['2001::', '2001::1', '2001:1ff:ffff::1'],
  '2001:db8::/32': ['2001:db8::', '2001:db8:ffff::1'],
  '2002::/16': ['2002::', '2002:7f00:1::', '2002:808:808::'],
  '2620:4f:8000::/48': ['2620:4f:8000::1'],
  '3fff::/20': ['3fff::', '3fff:fff::1'],
  '5f00::/16': ['5f00::1'],
  'fc00::/7': ['fc00::', 'fdff:ffff::1'],
  'fe80::/10': ['fe80::1', 'febf::1'],
  'fec0::/10': ['fec0::1'],
  'ff00::/8': ['ff00::', 'ff02::1'],
  // Nobody has them yet.
  '4000::/3': ['4000::1', '8000::1', 'e000::1'],
};

const PUBLIC = [
  ...['1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.1', '100.63.255.255', '100.128.0.1'],
  ...['126.255.255.255', '128.0.0.1', '169.253.255.255', '169.255.0.1', '172.15.255.255'],
  ...['172.32.0.1', '191.255.255.255', '192.0.1.1', '192.0.3.1', '192.167.255.255', '192.169.0.1'],
  ...['198.17.255.255', '198.20.0.1', '223.255.255.255', '::ffff:8.8.8.8'],
  ...['2001:200::1', '2001:4860:4860::8888', '2606:4700:4700::1111', '2a00:1450:4001::1'],
];

const FENCED = { allowPrivate: false, blocked: [] };

describe('A public address', () => {
  for (const [network, addresses] of Object.entries(SPECIAL)) {
    it(`is not in ${network}`, () => {
      for (const address of addresses) expect(isPublicAddress(address), address).to.equal(false);
    });
  }

  it('is any other', () => {
    for (const address of PUBLIC) expect(isPublicAddress(address), address).to.equal(true);
  });
});

describe('A webhook', () => {
  const interfaces = () => ({
    lo: [{ address: '127.0.0.1' }],
    eth0: [{ address: '196.201.214.7' }, { address: '2606:4700::7' }],
  });

  it('does not go to the machine’s own addresses, public as they may be', () => {
    for (const own of ['196.201.214.7', '::ffff:196.201.214.7', '2606:4700:0:0::7']) {
      const refusal = refusalOf(own, FENCED, interfaces);
      expect(refusal, own).to.equal(`${own} is an address of this machine`);
    }
    for (const other of ['196.201.214.8', '2606:4700::8']) {
      expect(refusalOf(other, FENCED, interfaces), other).to.equal(null);
    }
  });

  it('does not go to a blocked network, whatever else is allowed', () => {
    const blocked = networksFromText('196.201.212.0/24,2606:4700::/32');
    for (const allowPrivate of [true, false]) {
      for (const address of ['196.201.212.9', '::ffff:196.201.212.9', '2606:4700::9']) {
        const refusal = refusalOf(address, { allowPrivate, blocked }, interfaces);
        expect(refusal).to.equal(`${address} is in WEBHOOK_BLOCK`);
      }
      expect(refusalOf('196.201.213.9', { allowPrivate, blocked }, interfaces)).to.equal(null);
    }
  });

  it('goes inside where that is allowed', () => {
    expect(refusalOf('127.0.0.1', { allowPrivate: true, blocked: [] }, interfaces)).to.equal(null);
  });
});

describe('The lookup of a webhook’s host', () => {
  /** Stands for the DNS: gives a name these addresses. */
  const finderOf = (addresses: string[]) => async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

  const lookUp = (addresses: string[], all: boolean) =>
    new Promise<unknown>((resolve, reject) => {
      const find = fencedLookup(FENCED, finderOf(addresses), new AbortController().signal);
      find('shop.example', { all }, (error, found) => (error ? reject(error) : resolve(found)));
    });

  const failureOf = (addresses: string[]) =>
    lookUp(addresses, true).then(
      () => null,
      ({ message, reason }: RefusedHost) => [message, reason],
    );

  it('gives the very addresses that were judged', async () => {
    const both = ['196.201.214.200', '2606:4700:4700::1111'];
    expect(await lookUp(both, false)).to.equal(both[0]);
    expect(await lookUp(both, true)).to.deep.equal([
      { address: both[0], family: 4 },
      { address: both[1], family: 6 },
    ]);
  });

  it('refuses a name when one of its addresses is refused, in whatever place', async () => {
    const mixed = ['196.201.214.200', '10.0.0.1'];
    for (const addresses of [mixed, mixed.toReversed()]) {
      expect(await failureOf(addresses)).to.deep.equal([
        'The host leads to no public address',
        '10.0.0.1 is not a public address',
      ]);
    }
  });
});
