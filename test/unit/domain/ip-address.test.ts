import { expect } from 'chai';
import { isIpAddress } from '../../../src/domain/address.ts';

describe('An IP address', () => {
  it('is one of IPv4 or IPv6, without a zone', () => {
    for (const address of ['192.0.2.7', '2001:db8::1', '::ffff:192.0.2.7']) {
      expect(isIpAddress(address), address).to.equal(true);
    }
    for (const text of ['', '1.2.3', 'fe80::1%eth0', '10.0.0.0/8', 'localhost']) {
      expect(isIpAddress(text), text).to.equal(false);
    }
  });
});
