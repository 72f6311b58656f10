import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { DRIVERS } from '../../src/gateways/registry.ts';
import { ConfigError } from '../../src/process/config.ts';
import { isSecret } from '../../src/process/secrets.ts';
import { settingsWith } from '../../src/process/settings.ts';
import { loadConfig } from '../../src/service/service.ts';
import { makeFolder } from '../support/make-folder.ts';

const SECRETS = {
  DATABASE_URL: 'postgres://malipo:pa55word@db.example/malipo',
  DATABASE_MIGRATION_URL: 'postgres://owner:pa55word@db.example/malipo',
  REDIS_URL: 'rediss://:pa55word@cache',
  SECRETS_KEY: `own:${Buffer.alloc(32, 'only we know it').toString('base64')}`,
  JWT_KEYS: `own:${Buffer.alloc(32, 'for tokens alone').toString('base64')}`,
  AGE_IDENTITY: 'AGE-SECRET-KEY-1OF-NOBODY',
  METRICS_TOKEN: 'a token of at least 32 characters',
  SMTP_URL: 'smtps://malipo:pa55word@mail.example',
  NOTICE_HOOK_URL: 'https://ops.example/hooks/t0ken',
};

/** Goes with the mail server. */
const NOTICE_FROM = 'malipo@pay.example';

const PRODUCTION = {
  ...SECRETS,
  NOTICE_FROM,
  MALIPO_ENV: 'production',
  PUBLIC_URL: 'https://pay.example',
  TRUST_PROXY: 'loopback',
  CHANNELS: '63902=other',
};

function problemsOf(environment: NodeJS.ProcessEnv): string[] {
  try {
    loadConfig(environment);
  } catch (error) {
    expect(error).to.be.instanceOf(ConfigError);
    return (error as Error).message.split('\n').slice(1);
  }
  return [];
}

describe('A secret in a file', () => {
  let folder: string;

  before(() => {
    folder = makeFolder('secret-files');
  });

  function fileWith(name: string, text: string): string {
    const path = join(folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  }

  const inFiles = (end: string) =>
    Object.fromEntries(
      Object.entries(SECRETS).map(([name, text]) => [`${name}_FILE`, fileWith(name, text + end)]),
    );

  it('may be every setting that is one', () => {
    const settings = Object.entries(settingsWith(DRIVERS));
    const secrets = settings.filter(([, setting]) => isSecret(setting)).map(([name]) => name);
    expect(secrets).to.have.members(Object.keys(SECRETS));
  });

  for (const end of ['', '\n', '\r\n']) {
    it(`counts as the variable itself, with ${JSON.stringify(end)} at its end`, () => {
      const { secretsKeys, jwtKeys, ...config } = loadConfig({ ...inFiles(end), NOTICE_FROM });
      const {
        secretsKeys: keys,
        jwtKeys: tokenKeys,
        ...same
      } = loadConfig({ ...SECRETS, NOTICE_FROM });
      expect(config).to.deep.equal(same);
      expect([...secretsKeys.byId.keys(), ...jwtKeys.byId.keys()]).to.deep.equal(['own', 'own']);
      expect(secretsKeys.current.secret.equals(keys.current.secret)).to.equal(true);
      expect(jwtKeys.current.secret.equals(tokenKeys.current.secret)).to.equal(true);
    });
  }

  it('is checked as the variable is, and not shown', () => {
    const path = fileWith('short', 'short7');
    const problems = problemsOf({
      ...SECRETS,
      NOTICE_FROM,
      METRICS_TOKEN: '',
      METRICS_TOKEN_FILE: path,
    });
    expect(problems).to.deep.equal(['  METRICS_TOKEN must have at least 32 characters']);
  });

  it('stops the start when the variable is given too', () => {
    for (const [name, path] of Object.entries(inFiles(''))) {
      const variable = name.replace(/_FILE$/, '');
      expect(problemsOf({ ...SECRETS, NOTICE_FROM, [name]: path })).to.deep.equal([
        `  ${name} and ${variable} must not both be set`,
      ]);
    }
  });

  it('stops the start when its file is missing or empty, instead of a default', () => {
    const withFile = (path: string) =>
      problemsOf({ ...PRODUCTION, SECRETS_KEY: '', SECRETS_KEY_FILE: path });
    expect(withFile(join(folder, 'nowhere'))).to.deep.equal([
      '  SECRETS_KEY_FILE names a file that cannot be read (ENOENT)',
    ]);
    expect(withFile(fileWith('empty', '\n'))).to.deep.equal([
      '  SECRETS_KEY_FILE names an empty file',
    ]);
  });

  it('is none where the setting is no secret', () => {
    const environment = { ...SECRETS, NOTICE_FROM, PORT_FILE: fileWith('port', '99999') };
    expect(problemsOf(environment)).to.deep.equal([]);
  });
});
