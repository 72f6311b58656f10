import { expect } from 'chai';
import { isInNetworks, networksFromText } from '../../../src/process/networks.ts';

describe('A list of networks', () => {
  const networks = networksFromText('196.201.214.200, 196.201.212.0/24 ,2001:db8::/32');

  it('has its addresses, also as IPv4 in IPv6', () => {
    const inside = ['196.201.214.200', '196.201.212.1', '::ffff:196.201.212.255', '2001:db8::1'];
    for (const address of inside) expect(isInNetworks(address, networks), address).to.equal(true);
  });

  it('has no others, and none that is no address', () => {
    const outside = ['196.201.214.201', '196.201.213.1', '::1', '2001:db9::1', 'localhost', ''];
    for (const address of [...outside, undefined]) {
      expect(isInNetworks(address, networks), `${address}`).to.equal(false);
    }
  });

  for (const text of ['', 'safaricom.co.ke', '196.201.212.0/33', '196.201.212.0/24,', 'all']) {
    it(`is not made of ${JSON.stringify(text)}`, () => {
      expect(() => networksFromText(text)).to.throw('must be a list of IP addresses and networks');
    });
  }
});
