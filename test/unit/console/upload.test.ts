import { expect } from 'chai';
import { hasManyParts } from '../../../src/console/access/upload.ts';

describe('The parts of a form with a file', () => {
  const body = (parts: number) => Buffer.from('--b\r\n\r\n\r\n'.repeat(parts));

  for (const type of ['multipart/form-data; boundary=b', 'multipart/form-data;boundary="b"']) {
    it(`are counted by the boundary of ${type}`, () => {
      expect(hasManyParts(type, body(10))).to.equal(false);
      expect(hasManyParts(type, body(60))).to.equal(true);
    });
  }

  for (const type of [
    'multipart/form-data; xboundary=zzz; boundary=b',
    'multipart/form-data; boundary=zzz; boundary=b',
    'multipart/form-data; BOUNDARY=b; boundary=zzz',
    'multipart/form-data',
  ]) {
    it(`are not read at all of ${type}, which readers take apart in two ways`, () => {
      expect(hasManyParts(type, body(1))).to.equal(true);
    });
  }
});
