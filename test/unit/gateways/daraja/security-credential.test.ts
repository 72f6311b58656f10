import { constants, privateDecrypt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { eatDateTime, eatTimestamp, readTime } from '../../../../src/gateways/daraja/messages.ts';
import { securityCredential, stkPassword } from '../../../../src/gateways/daraja/request-fields.ts';
import { PASSKEY } from './daraja-support.ts';
import { expiredCertificate } from './expired-certificate.ts';

const PASSWORD = 'Safaricom#999 é';

describe('Daraja’s credentials', () => {
  const folder = mkdtempSync(join(tmpdir(), 'daraja-'));
  after(() => rmSync(folder, { recursive: true }));

  it('encrypt the password with PKCS#1 v1.5, also for a certificate that has expired', () => {
    const { certificate, key } = expiredCertificate(folder);
    const credential = securityCredential(PASSWORD, certificate);
    expect(credential).to.have.lengthOf(344);
    const block = privateDecrypt(
      { key, padding: constants.RSA_NO_PADDING },
      Buffer.from(credential, 'base64'),
    );
    const end = block.indexOf(0, 2);
    expect([...block.subarray(0, 2)]).to.deep.equal([0, 2]);
    expect(end).to.be.at.least(10);
    expect(block.subarray(end + 1).toString()).to.equal(PASSWORD);
  });

  it('make the password of a prompt as Safaricom’s sample does', () => {
    expect(stkPassword('174379', PASSKEY, '20210628092408')).to.equal(
      'MTc0Mzc5YmZiMjc5ZjlhYTliZGJjZjE1OGU5N2RkNzFhNDY3Y2QyZTBjODkzMDU5YjEwZjc4ZTZiNzJhZGExZWQyYzkxOTIwMjEwNjI4MDkyNDA4',
    );
  });
});

describe('Daraja’s times', () => {
  it('are Nairobi’s, three hours ahead all year', () => {
    expect(eatTimestamp(new Date('2026-12-31T21:00:05Z'))).to.equal('20270101000005');
    expect(eatDateTime(new Date('2026-06-30T20:59:59.900Z'))).to.equal('2026-06-30 23:59:59');
  });

  it('are read in each form that Daraja writes', () => {
    const time = new Date('2019-12-19T08:45:50Z');
    for (const text of ['20191219114550', 20191219114550, '19.12.2019 11:45:50']) {
      expect(readTime(text)).to.deep.equal(time);
    }
    for (const text of ['2019-12-19 11:45:50', '2019-12-19T08:45:50Z']) {
      expect(readTime(text)).to.deep.equal(time);
    }
  });

  it('are nothing when they are no times', () => {
    for (const value of ['20190230114550', '20191219', '', null, {}, '19.13.2019 11:45:50']) {
      expect(readTime(value), String(value)).to.equal(null);
    }
  });
});
