import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { darajaConfigFromText } from '../../../../src/gateways/daraja/settings.ts';
import { CREDENTIAL } from './daraja-support.ts';
import { expiredCertificate } from './expired-certificate.ts';

const KEYS = { consumer_key: 'SECRET-1', consumer_secret: 'SECRET-2' };
const INITIATOR = { initiator: 'testapi', security_credential: CREDENTIAL };

const read = (config: object) => darajaConfigFromText(JSON.stringify(config));
const readOne = (fields: object, others: object = {}) =>
  read({ shortcodes: { '174379': { ...KEYS, ...fields } }, ...others });

describe('Daraja’s configuration', () => {
  const folder = mkdtempSync(join(tmpdir(), 'daraja-'));
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  after(() => rmSync(folder, { recursive: true }));

  it('has defaults, and null for what is not configured', () => {
    const config = readOne({});
    expect(config).to.deep.include({
      baseUrl: 'https://api.safaricom.co.ke',
      collections: null,
      payouts: null,
      confirmAboveCents: null,
    });
    expect(config.shortcodes.get('174379')).to.deep.equal({
      shortcode: '174379',
      consumerKey: 'SECRET-1',
      consumerSecret: 'SECRET-2',
      passkey: null,
      type: 'paybill',
      till: null,
      initiator: null,
      securityCredential: null,
      passwordSetOn: null,
      payoutCommand: 'BusinessPayment',
      nominatedNumber: null,
      floatAlertBelowCents: null,
    });
  });

  it('reads everything, with amounts in cents', () => {
    const till = { type: 'till', till: '123456', passkey: 'P', password_set_on: '2026-01-31' };
    const more = { payout_command: 'SalaryPayment', nominated_number: '254712345678' };
    const fields = { ...till, ...more, ...INITIATOR, float_alert_below: '1000000.50' };
    const routes = { collections: '174379', payouts: '174379', confirm_above: '50000.00' };
    const config = readOne(fields, { ...routes, base_url: 'https://sandbox.safaricom.co.ke/' });
    expect(config).to.deep.include({
      baseUrl: 'https://sandbox.safaricom.co.ke',
      collections: '174379',
      payouts: '174379',
      confirmAboveCents: 50_000_00,
    });
    expect(config.shortcodes.get('174379')).to.deep.include({
      type: 'till',
      till: '123456',
      securityCredential: CREDENTIAL,
      passwordSetOn: new Date('2026-01-30T21:00:00Z'),
      payoutCommand: 'SalaryPayment',
      nominatedNumber: '254712345678',
      floatAlertBelowCents: 1_000_000_50,
    });
  });

  it('may be a file, and so may each of its secrets', () => {
    const { consumer_secret } = KEYS;
    const fields = { consumer_key_file: file('key', ' from-file\n'), consumer_secret };
    const path = file('config', JSON.stringify({ shortcodes: { '600980': fields } }));
    const config = darajaConfigFromText(path);
    expect(config.shortcodes.get('600980')?.consumerKey).to.equal('from-file');
  });

  it('encrypts a password that is given with a certificate', () => {
    const { certificate } = expiredCertificate(folder);
    const password = { initiator: 'testapi', initiator_password: 'Safaricom#999' };
    const text = readOne({ ...password, certificate });
    const path = readOne({ ...password, certificate_file: file('safaricom.pem', certificate) });
    for (const config of [text, path]) {
      const shortcode = config.shortcodes.get('174379');
      expect(shortcode?.securityCredential).to.have.lengthOf(344);
      expect(JSON.stringify(shortcode)).to.not.include('Safaricom#999');
    }
  });

  it('names every wrong field and repeats no value', () => {
    const wrong: [object, string][] = [
      [{ consumer_key: undefined }, 'shortcodes.174379.consumer_key is required'],
      [{ consumer_secret: 7 }, 'shortcodes.174379.consumer_secret must be text'],
      [{ passky: 'SECRET' }, 'shortcodes.174379.passky is not known'],
      [{ type: 'SECRET' }, 'shortcodes.174379.type must be one of paybill, till'],
      [{ type: 'till' }, 'shortcodes.174379.till is required with the type till'],
      [{ till: '123456' }, 'shortcodes.174379.till is only for the type till'],
      [{ initiator: 'SECRET' }, 'security_credential or initiator_password is required'],
      [{ security_credential: CREDENTIAL }, 'initiator is required with its credential'],
      [{ initiator: 'SECRET', initiator_password: 'SECRET' }, 'certificate is required'],
      [{ ...INITIATOR, initiator_password: 'SECRET' }, 'security_credential is given together'],
      [{ certificate: 'SECRET' }, 'certificate names a file that cannot be read (ENOENT)'],
      [{ passkey_file: '/SECRET' }, 'passkey_file names a file that cannot be read (ENOENT)'],
      [{ passkey_file: 0 }, 'passkey_file must be the path of a file'],
      [{ passkey: 'SECRET', passkey_file: 'SECRET' }, 'passkey is given twice'],
      [{ nominated_number: 'SECRET' }, 'nominated_number must be a phone such as 254712345678'],
      [{ float_alert_below: '1' }, 'float_alert_below must be an amount'],
      [{ password_set_on: '2026-02-30' }, 'password_set_on must be a date'],
    ];
    for (const [fields, problem] of wrong) {
      expect(() => readOne(fields), problem)
        .to.throw(problem)
        .with.property('message')
        .that.not.includes('SECRET');
    }
    expect(() => readOne({ type: 'x', consumer_key: '' }))
      .to.throw('consumer_key must not be empty')
      .with.property('message')
      .that.includes('type must be one of');
  });

  it('routes only to a shortcode that can do it', () => {
    expect(() => readOne({}, { collections: '174379' })).to.throw('without passkey');
    expect(() => readOne({}, { payouts: '174379' })).to.throw('without initiator');
    expect(() => readOne({}, { payouts: '600980' })).to.throw('payouts names no configured');
    expect(() => readOne({}, { colections: '174379' })).to.throw('colections is not known');
    expect(() => read({ shortcodes: { abc: KEYS } })).to.throw(
      'shortcodes.abc must be a shortcode',
    );
    expect(() => read({ shortcodes: { '174379': 'SECRET' } })).to.throw('174379 must be an object');
    expect(() => read({})).to.throw('shortcodes must have a shortcode');
  });

  it('says what is wrong with the text itself', () => {
    expect(() => darajaConfigFromText('{"consumer_key": SECRET')).to.throw('holds no valid JSON');
    expect(() => darajaConfigFromText('/nowhere')).to.throw('names a file that cannot be read');
  });
});
