import { expect } from 'chai';
import { connectionSettings, isUnverified } from '../../../src/connections/address.ts';

const PLAIN = 'postgres://malipo:p%40ss@db.example:5432/malipo';

describe('The address of the database', () => {
  it('is what the client is given, without a word about TLS', () => {
    expect(connectionSettings({ databaseUrl: PLAIN })).to.deep.equal({ connectionString: PLAIN });
  });

  it('means by each sslmode what the client means by it', () => {
    for (const mode of ['prefer', 'require', 'verify-ca']) {
      const databaseUrl = `${PLAIN}?sslmode=${mode}&application_name=x`;
      expect(connectionSettings({ databaseUrl })).to.deep.equal({
        connectionString: `${PLAIN}?sslmode=verify-full&application_name=x`,
      });
    }
    for (const words of ['sslmode=disable', 'sslmode=no-verify', 'sslmode=verify-full']) {
      const databaseUrl = `${PLAIN}?${words}`;
      expect(connectionSettings({ databaseUrl })).to.deep.equal({ connectionString: databaseUrl });
    }
    const compatible = `${PLAIN}?uselibpqcompat=true&sslmode=require`;
    expect(connectionSettings({ databaseUrl: compatible }).connectionString).to.equal(compatible);
  });

  it('says nothing about TLS any more where a setting does', () => {
    const databaseUrl = `${PLAIN}?sslmode=require&ssl=1&sslrootcert=x.pem&connect_timeout=3`;
    expect(
      connectionSettings({ databaseUrl, databaseTls: { verify: true, ca: 'PEM' } }),
    ).to.deep.equal({
      connectionString: `${PLAIN}?connect_timeout=3`,
      ssl: { rejectUnauthorized: true, ca: 'PEM' },
    });
    expect(connectionSettings({ databaseUrl, databaseTls: { verify: false } }).ssl).to.deep.equal({
      rejectUnauthorized: false,
    });
  });

  it('is known to prove nothing', () => {
    const unverified = (words: string) => isUnverified({ databaseUrl: `${PLAIN}?${words}` });
    for (const words of [
      'sslmode=no-verify',
      'uselibpqcompat=true&sslmode=require',
      'uselibpqcompat=true&sslmode=prefer',
    ]) {
      expect(unverified(words), words).to.equal(true);
    }
    for (const words of [
      '',
      'sslmode=require',
      'sslmode=disable',
      'uselibpqcompat=true&sslmode=require&sslrootcert=ca.pem',
    ]) {
      expect(unverified(words), words).to.equal(false);
    }
  });
});
