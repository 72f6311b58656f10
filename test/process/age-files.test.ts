import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { armor, Encrypter, generateIdentity, identityToRecipient } from 'age-encryption';
import { expect } from 'chai';
import { openConfig } from '../../src/service/service.ts';
import { makeFolder } from '../support/make-folder.ts';
import { describeWith, findProgram } from '../support/programs.ts';

const KEYS = `k1:${Buffer.alloc(32, 7).toString('base64')}`;
const ADDRESS = { DATABASE_URL: 'postgres://malipo@localhost:5432/malipo' };

describe('A file with a secret that age has encrypted', () => {
  let folder: string;
  let identity: string;
  let recipient: string;
  let count = 0;

  before(async () => {
    folder = makeFolder('age');
    identity = await generateIdentity();
    recipient = await identityToRecipient(identity);
  });

  const fileWith = (content: string | Uint8Array) => {
    count += 1;
    const path = join(folder, `secret-${count}`);
    writeFileSync(path, content);
    return path;
  };
  const encrypted = (text: string) => {
    const encrypter = new Encrypter();
    encrypter.addRecipient(recipient);
    return encrypter.encrypt(text);
  };
  const rejection = (environment: NodeJS.ProcessEnv) =>
    openConfig({ ...ADDRESS, ...environment }).then(
      () => 'nothing',
      ({ message }: Error) => message,
    );

  it('is opened by an identity that is in another file', async () => {
    const AGE_IDENTITY_FILE = fileWith(
      `# created: today\n\n# public key: ${recipient}\n${identity}\n`,
    );
    const binary = await encrypted(`${KEYS}\n`);
    for (const content of [binary, armor.encode(binary)]) {
      const config = await openConfig({
        ...ADDRESS,
        ...{ AGE_IDENTITY_FILE, SECRETS_KEY_FILE: fileWith(content) },
      });
      expect(config.secretsKeys.current.id).to.equal('k1');
      expect(JSON.stringify(config)).to.not.include(identity);
    }
  });

  it('is opened for every secret of the environment, beside one that is not encrypted', async () => {
    const config = await openConfig({
      AGE_IDENTITY: identity,
      DATABASE_URL_FILE: fileWith(await encrypted('postgres://sealed@localhost:5432/malipo')),
      SECRETS_KEY_FILE: fileWith(KEYS),
    });
    expect(config.databaseUrl).to.equal('postgres://sealed@localhost:5432/malipo');
    expect(config.secretsKeys.current.id).to.equal('k1');
  });

  it('stops a process that has no identity, a wrong one or a broken file, and says so without a secret', async () => {
    const sealed = await encrypted(KEYS);
    const SECRETS_KEY_FILE = fileWith(sealed);
    expect(await rejection({ SECRETS_KEY_FILE })).to.include('set AGE_IDENTITY_FILE');
    const stranger = await generateIdentity();
    for (const AGE_IDENTITY of [stranger, 'no identity']) {
      const said = await rejection({ SECRETS_KEY_FILE, AGE_IDENTITY });
      expect(said).to.include('SECRETS_KEY_FILE names a file that AGE_IDENTITY does not open');
      expect(said).to.not.include(AGE_IDENTITY);
    }
    const changed = Buffer.from(sealed);
    changed[changed.length - 1]! ^= 1;
    const broken = { SECRETS_KEY_FILE: fileWith(changed), AGE_IDENTITY: identity };
    expect(await rejection(broken)).to.include('does not open');
    const gone = { SECRETS_KEY_FILE, AGE_IDENTITY_FILE: join(folder, 'gone') };
    expect(await rejection(gone)).to.include('AGE_IDENTITY_FILE names a file that cannot be read');
  });

  it('still must not be given together with the secret itself', async () => {
    const SECRETS_KEY_FILE = fileWith(await encrypted(KEYS));
    const both = { SECRETS_KEY_FILE, SECRETS_KEY: KEYS, AGE_IDENTITY: identity };
    expect(await rejection(both)).to.include('must not both be set');
  });
});

describeWith(['age'], 'A file that the program age has encrypted', () => {
  it('is opened by the identity that age-keygen has made', async () => {
    const folder = makeFolder('age');
    const AGE_IDENTITY_FILE = join(folder, 'identity');
    const SECRETS_KEY_FILE = join(folder, 'secrets-key.age');
    execFileSync(findProgram('age-keygen') ?? 'age-keygen', ['-o', AGE_IDENTITY_FILE], {
      stdio: 'ignore',
    });
    const age = findProgram('age')!;
    const args = ['-e', '-i', AGE_IDENTITY_FILE, '-a', '-o', SECRETS_KEY_FILE];
    execFileSync(age, args, { input: KEYS });
    const config = await openConfig({ ...ADDRESS, AGE_IDENTITY_FILE, SECRETS_KEY_FILE });
    expect(config.secretsKeys.current.id).to.equal('k1');
  });
});
