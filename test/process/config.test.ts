import { expect } from 'chai';
import { z } from 'zod';
import { settingsOf } from '../../src/gateways/driver.ts';
import { DRIVERS } from '../../src/gateways/registry.ts';
import { simulator } from '../../src/gateways/simulator/driver.ts';
import { ConfigError } from '../../src/process/config.ts';
import { DEVELOPMENT_KEYS } from '../../src/process/key-ring.ts';
import { settingsWith } from '../../src/process/settings.ts';
import { loadConfig } from '../../src/service/service.ts';

const { properties } = z.toJSONSchema(z.object(settingsWith(DRIVERS)), { unrepresentable: 'any' });
const SCHEMAS = properties as Record<string, z.core.JSONSchema.JSONSchema>;
const NAMES = Object.keys(SCHEMAS);
const DATABASE_URL = 'postgres://malipo:pa55word@db.example/malipo';
const REDIS_URL = 'rediss://cache';
const OWN_KEYS = fullKey('only we know it');
const TOKEN_KEYS = fullKey('for tokens alone');
const PRODUCTION = {
  TRUST_PROXY: 'loopback',
  MALIPO_ENV: 'production',
  DATABASE_URL,
  SECRETS_KEY: OWN_KEYS,
  JWT_KEYS: TOKEN_KEYS,
  PUBLIC_URL: 'https://pay.example',
  CHANNELS: '63902=other',
};

/** A key of 32 bytes under an id, which are the text again and again. */
function fullKey(text: string, id = 'own'): string {
  return `${id}:${Buffer.alloc(32, text).toString('base64')}`;
}

/** What the environment is refused with: one line per problem. */
function problemsOf(environment: NodeJS.ProcessEnv): string[] {
  try {
    loadConfig(environment);
  } catch (error) {
    expect(error).to.be.instanceOf(ConfigError);
    return (error as Error).message.split('\n').slice(1);
  }
  return [];
}

function namesIn(problems: string[]): string[] {
  return problems.map((line) => line.trim().split(' ')[0]!);
}

describe('The configuration', () => {
  const BAD = {
    MALIPO_ENV: 'staging7',
    LOG_LEVEL: 'loud7',
    PORT: 'eighty7',
    PUBLIC_URL: 'ftp://merchant7',
    DATABASE_URL: 'mysql://root:hunter7@db/x',
    DATABASE_POOL_MAX: '100007',
    REDIS_URL: 'http://:redispass7@cache',
    SECRETS_KEY: 'k1:c2VjcmV0Nw==',
    JWT_KEYS: 'notakey7',
    CHANNELS: '63902=simulator,77777=nobody7',
    REQUIRE_TOTP_FOR: 'payouts,collections7',
    METRICS_TOKEN: 'short7',
    SMTP_URL: 'imap://me:mailpass7@mail',
    NOTICE_FROM: 'Malipo7 <x@y.example>',
    NOTICE_HOOK_URL: 'https://hook7 at home/',
    WEBHOOK_ALLOW_PRIVATE: 'maybe7',
    WEBHOOK_PORTS: '443,70007',
    SWEEP_GRACE_MS: '7.5',
  };

  it('names every bad variable at once, each on a line of its own', () => {
    expect(namesIn(problemsOf(BAD))).to.have.members(Object.keys(BAD));
  });

  it('shows no value of any bad variable in its message', () => {
    const message = problemsOf(BAD).join('\n');
    for (const value of Object.values(BAD)) expect(message).to.not.include(value);
    for (const secret of ['hunter7', 'redispass7', 'mailpass7', 'c2VjcmV0Nw', 'notakey7']) {
      expect(message).to.not.include(secret);
    }
  });

  it('lists problems of single variables and of production together', () => {
    const problems = problemsOf({ MALIPO_ENV: 'production', PORT: 'eighty' });
    expect(namesIn(problems)).to.have.members([
      'DATABASE_URL',
      'PORT',
      'TRUST_PROXY',
      'SECRETS_KEY',
      'JWT_KEYS',
      'PUBLIC_URL',
      'CHANNELS',
    ]);
  });

  it('needs nothing but the address of the database', () => {
    expect(problemsOf({})).to.deep.equal(['  DATABASE_URL is required']);
    expect(problemsOf({ DATABASE_URL })).to.deep.equal([]);
  });

  it('takes an empty variable for an absent one', () => {
    const empty = Object.fromEntries(NAMES.map((name) => [name, '']));
    expect(loadConfig({ ...empty, DATABASE_URL })).to.deep.equal(loadConfig({ DATABASE_URL }));
    expect(namesIn(problemsOf(empty))).to.deep.equal(['DATABASE_URL']);
  });

  it('ignores variables that are not its own', () => {
    expect(problemsOf({ DATABASE_URL, PATH: '/bin', MALIPO_COLOUR: 'red' })).to.deep.equal([]);
  });

  it('is frozen, and so is what is in it', () => {
    const config = loadConfig({ DATABASE_URL });
    expect(config).to.be.frozen;
    expect(config.concurrency).to.be.frozen;
    expect(config.commissionDefaults).to.be.frozen;
  });

  it('asks for its public address where it cannot know its own port', () => {
    expect(namesIn(problemsOf({ DATABASE_URL, PORT: '0' }))).to.deep.equal(['PUBLIC_URL']);
    const PUBLIC_URL = 'https://pay.example';
    expect(problemsOf({ DATABASE_URL, PORT: '0', PUBLIC_URL })).to.deep.equal([]);
  });

  it('asks for the address of the console where it cannot know its own port', () => {
    expect(namesIn(problemsOf({ DATABASE_URL, CONSOLE_PORT: '0' }))).to.deep.equal(['CONSOLE_URL']);
    const { consoleUrl } = loadConfig({ DATABASE_URL, CONSOLE_PORT: '5200' });
    expect(consoleUrl).to.equal('http://127.0.0.1:5200');
  });

  it('does not take its own port for the address of callbacks: another process listens there', () => {
    const { gatewayCallbackUrl, publicUrl } = loadConfig({ DATABASE_URL, PORT: '5100' });
    expect([gatewayCallbackUrl, publicUrl]).to.deep.equal([null, 'http://127.0.0.1:5100']);
    const PUBLIC_URL = 'https://pay.example';
    const GATEWAY_CALLBACK_URL = 'https://callbacks.example';
    expect(loadConfig({ DATABASE_URL, PUBLIC_URL }).gatewayCallbackUrl).to.equal(PUBLIC_URL);
    const both = loadConfig({ DATABASE_URL, PUBLIC_URL, GATEWAY_CALLBACK_URL });
    expect(both.gatewayCallbackUrl).to.equal(GATEWAY_CALLBACK_URL);
  });

  it('knows at which address of this machine it listens', () => {
    const own = { DATABASE_URL, PORT: '81', SECRETS_KEY: OWN_KEYS, JWT_KEYS: OWN_KEYS };
    const addressOf = (env: NodeJS.ProcessEnv) => loadConfig({ ...own, ...env }).publicUrl;
    expect(addressOf({})).to.equal('http://127.0.0.1:81');
    expect(addressOf({ HOST: '0.0.0.0' })).to.equal('http://127.0.0.1:81');
    expect(addressOf({ HOST: '10.0.0.7' })).to.equal('http://10.0.0.7:81');
    expect(addressOf({ HOST: '::1' })).to.equal('http://[::1]:81');
    const tls = { TLS_CERT: 'cert.pem', TLS_KEY: 'key.pem' };
    expect(addressOf(tls)).to.equal('https://127.0.0.1:81');
  });

  it('wants certificates that are there and can be read', () => {
    const broken = '-----BEGIN CERTIFICATE-----\nbm9uc2Vuc2U=\n-----END CERTIFICATE-----';
    for (const ca of ['/nowhere/ca.pem', 'README.md', broken]) {
      const problems = problemsOf({ DATABASE_URL, DATABASE_CA: ca, REDIS_URL, REDIS_CA: ca });
      expect(namesIn(problems), ca).to.deep.equal(['DATABASE_CA', 'REDIS_CA']);
    }
  });

  it('refuses settings of PostgreSQL and Redis that contradict each other', () => {
    const ca = '/nowhere/ca.pem';
    const CONTRADICTIONS: [string, NodeJS.ProcessEnv][] = [
      ['DATABASE_CA', { DATABASE_CA: ca, DATABASE_SSL: 'no-verify' }],
      ['DATABASE_POOLING', { DATABASE_POOLING: 'transaction' }],
      ['DATABASE_POOLER_PREPARES', { DATABASE_POOLER_PREPARES: 'true' }],
      ['REDIS_CA', { REDIS_CA: ca, REDIS_URL: 'redis://cache' }],
      ['REDIS_CLUSTER', { REDIS_CLUSTER: 'true' }],
      ['REDIS_SENTINEL', { REDIS_SENTINEL: 'malipo' }],
      ['REDIS_SENTINEL', { REDIS_SENTINEL: 'two words', REDIS_URL }],
      ['REDIS_SENTINEL', { REDIS_SENTINEL: 'malipo', REDIS_CLUSTER: 'true', REDIS_URL }],
      ['DATABASE_URL', { DATABASE_URL: `${DATABASE_URL}?sslcert=me.pem`, DATABASE_SSL: 'verify' }],
    ];
    for (const [name, env] of CONTRADICTIONS) {
      expect(namesIn(problemsOf({ DATABASE_URL, ...env })), name).to.include(name);
    }
    const allowed = { DATABASE_POOLING: 'transaction', REDIS_CLUSTER: 'true', REDIS_URL };
    expect(problemsOf({ DATABASE_URL, ...allowed })).to.deep.equal([]);
  });

  it('refuses an address of Redis that cannot be read, and does not say the password', () => {
    for (const REDIS_CLUSTER of ['true', 'false']) {
      for (const url of ['redis://:s3cr/et@node1:6379', 'redis://:s3cr%2@node1', 'redis://']) {
        const problems = problemsOf({ DATABASE_URL, REDIS_URL: url, REDIS_CLUSTER });
        expect(namesIn(problems), url).to.deep.equal(['REDIS_URL']);
        expect(problems.join()).to.not.include('s3cr');
      }
    }
    const nodes = 'rediss://me:s3cr%2Fet@node1:6379, node2:6380,rediss://[::1]:6381';
    for (const of of [{ REDIS_CLUSTER: 'true' }, { REDIS_SENTINEL: 'malipo' }])
      expect(problemsOf({ DATABASE_URL, REDIS_URL: nodes, ...of })).to.deep.equal([]);
  });

  it('writes addresses without the slash at their end', () => {
    const config = loadConfig({
      DATABASE_URL,
      PUBLIC_URL: 'https://pay.example/',
      SIMULATOR_URL: 'http://sim.example//',
    });
    expect(config.publicUrl).to.equal('https://pay.example');
    expect(config.gatewayCallbackUrl).to.equal('https://pay.example');
    expect(settingsOf(simulator, config).SIMULATOR_URL).to.equal('http://sim.example');
  });

  it('takes no number that is beyond integers or, for a duration, beyond timers', () => {
    const refusesAll = (name: string) =>
      ['Infinity', '1e99', ...(name.endsWith('_MS') ? ['2147483648'] : [])].every((value) =>
        namesIn(problemsOf({ DATABASE_URL, [name]: value })).includes(name),
      );
    const numbers = Object.keys(SCHEMAS).filter((name) => SCHEMAS[name]!.type === 'integer');
    expect(numbers.filter((name) => !refusesAll(name))).to.deep.equal([]);
  });

  const ROOMY = { DATABASE_URL, SHUTDOWN_TIMEOUT_MS: '600000' };
  for (const [name, { type, minimum, maximum }] of Object.entries(SCHEMAS)) {
    if (type !== 'integer') continue;
    it(`takes ${name} between its bounds only, and only whole numbers`, () => {
      const refused = (value: number | string) =>
        namesIn(problemsOf({ ...ROOMY, [name]: String(value) })).includes(name);
      expect(refused(minimum!)).to.equal(false);
      expect(refused(minimum! - 1)).to.equal(true);
      if (maximum !== undefined) {
        expect(refused(maximum)).to.equal(false);
        expect(refused(maximum + 1)).to.equal(true);
      }
      for (const value of [`${minimum! + 1}.5`, 'many', '12 apples', 'NaN']) {
        expect(refused(value), value).to.equal(true);
      }
    });
  }
});

describe('What a stopping process must be able to finish', () => {
  const LONGEST = {
    GATEWAY_TIMEOUT_MS: '20000',
    WEBHOOK_TIMEOUT_MS: '20000',
    DRAIN_DELAY_MS: '10000',
  };
  for (const [name, value] of Object.entries(LONGEST)) {
    it(`fits into its deadline with the longest ${name}, and must`, () => {
      const times = { DATABASE_URL, [name]: value };
      expect(problemsOf({ ...times, SHUTDOWN_TIMEOUT_MS: '25000' })).to.deep.equal([]);
      const problems = problemsOf({ ...times, SHUTDOWN_TIMEOUT_MS: '24999' });
      expect(namesIn(problems)).to.deep.equal([name]);
      expect(problems.join()).to.include('SHUTDOWN_TIMEOUT_MS');
    });
  }

  it('is more than the drain alone', () => {
    const times = { DATABASE_URL, DRAIN_DELAY_MS: '10001', REVERSAL_WAIT_MS: '10000' };
    expect(namesIn(problemsOf(times))).to.deep.equal(['DRAIN_DELAY_MS']);
    expect(problemsOf({ ...times, REVERSAL_WAIT_MS: '9999' })).to.deep.equal([]);
  });

  it('is counted with a time that is itself too long, but not with one that is no number', () => {
    const drains = (time: string) => namesIn(problemsOf({ DATABASE_URL, DRAIN_DELAY_MS: time }));
    expect(drains('60001')).to.deep.equal(['DRAIN_DELAY_MS', 'DRAIN_DELAY_MS']);
    expect(drains('1.5 hours')).to.deep.equal(['DRAIN_DELAY_MS']);
  });
});

describe('The configuration of Daraja', () => {
  const DARAJA = JSON.stringify({
    collections: '600980',
    shortcodes: { 600980: { consumer_key: 'k', consumer_secret: 's', passkey: 'p' } },
  });
  const problemsWith = (CHANNELS: string, given: object = { DARAJA }) =>
    namesIn(problemsOf({ DATABASE_URL, CHANNELS, ...given }));

  it('is needed for its driver, which has the channel of M-PESA and no other', () => {
    expect(problemsWith('63902=daraja')).to.deep.equal([]);
    expect(problemsWith('63902=daraja', {})).to.deep.equal(['DARAJA']);
    expect(problemsWith('63902=daraja,63903=daraja')).to.deep.equal(['CHANNELS']);
    expect(problemsWith('68=daraja')).to.deep.equal(['CHANNELS']);
  });
});

describe('The configuration of notices', () => {
  const NOTICE_FROM = 'malipo@pay.example';
  const smtpOf = (SMTP_URL: string) => loadConfig({ DATABASE_URL, SMTP_URL, NOTICE_FROM }).smtpUrl;

  it('has the mail server with its port, TLS, user and password', () => {
    expect(smtpOf('smtps://me%40x:s3cr%2Fet@mail.example:2465')).to.deep.equal({
      host: 'mail.example',
      port: 2_465,
      secure: true,
      isLocal: false,
      auth: { user: 'me@x', pass: 's3cr/et' },
    });
    expect(smtpOf('smtp://[::1]/')).to.deep.equal({ host: '::1', secure: false, isLocal: true });
  });

  const WRONG = [
    ...['smtp://', 'smtps:mail.example', 'https://mail.example', 'mail.example:25'],
    ...['smtp://me@mail.example', 'smtp://:s3cret@mail.example', 'smtp://me:s3cr%2@mail.example'],
    ...['smtp://mail.example/path', 'smtp://mail.example?tls.rejectUnauthorized=false'],
  ];
  for (const SMTP_URL of WRONG) {
    it(`is refused with ${SMTP_URL} as the mail server`, () => {
      const problems = problemsOf({ DATABASE_URL, SMTP_URL, NOTICE_FROM });
      expect(namesIn(problems)).to.deep.equal(['SMTP_URL']);
      expect(problems.join()).to.not.include('s3cr');
    });
  }

  it('has a mail server and a sender, or neither', () => {
    const SMTP_URL = 'smtp://mail.example';
    expect(namesIn(problemsOf({ DATABASE_URL, SMTP_URL }))).to.deep.equal(['NOTICE_FROM']);
    expect(namesIn(problemsOf({ DATABASE_URL, NOTICE_FROM }))).to.deep.equal(['SMTP_URL']);
    const two = `${NOTICE_FROM}, eve@evil.example`;
    const problems = problemsOf({ DATABASE_URL, SMTP_URL, NOTICE_FROM: two });
    expect(namesIn(problems)).to.deep.equal(['NOTICE_FROM']);
  });

  it('keeps the address of the hook as it stands, also a private one', () => {
    const url = 'http://10.0.0.7:9000/hooks/?token=a';
    expect(loadConfig({ DATABASE_URL, NOTICE_HOOK_URL: url }).noticeHookUrl).to.equal(url);
  });
});

describe('Where webhooks may go', () => {
  const of = (env: NodeJS.ProcessEnv) => {
    const { webhookAllowPrivate, webhookPorts } = loadConfig({ DATABASE_URL, ...env });
    return [webhookAllowPrivate, webhookPorts];
  };

  it('is anywhere in development alone: others may use a sandbox that is hosted', () => {
    expect(of({})).to.deep.equal([true, null]);
    expect(of({ MALIPO_ENV: 'sandbox' })).to.deep.equal([false, [443, 8443]]);
    expect(of(PRODUCTION)).to.deep.equal([false, [443, 8443]]);
  });

  it('is anywhere where that is said, or to the ports that are given', () => {
    const sandbox = { MALIPO_ENV: 'sandbox', WEBHOOK_ALLOW_PRIVATE: 'true' };
    expect(of(sandbox)).to.deep.equal([true, null]);
    expect(of({ ...sandbox, WEBHOOK_PORTS: '9000' })).to.deep.equal([true, [9000]]);
  });
});

describe('The configuration of production', () => {
  it('is accepted with keys of its own, an address and channels', () => {
    expect(problemsOf(PRODUCTION)).to.deep.equal([]);
    expect(loadConfig(PRODUCTION).webhookAllowPrivate).to.equal(false);
  });

  it('lets webhooks go to the ports of HTTPS servers, unless it is told others', () => {
    expect(loadConfig(PRODUCTION).webhookPorts).to.deep.equal([443, 8443]);
    expect(loadConfig({ DATABASE_URL }).webhookPorts).to.equal(null);
    const portsOf = (text: string) =>
      loadConfig({ ...PRODUCTION, WEBHOOK_PORTS: text }).webhookPorts;
    expect(portsOf('9443')).to.deep.equal([9443]);
    expect(portsOf('443, 8443,65535')).to.deep.equal([443, 8443, 65535]);
    for (const WEBHOOK_PORTS of ['0', '65536', '443,', '443;8443', '-1', '0x1bb', 'https', '044']) {
      const problems = problemsOf({ ...PRODUCTION, WEBHOOK_PORTS });
      expect(namesIn(problems), WEBHOOK_PORTS).to.deep.equal(['WEBHOOK_PORTS']);
    }
  });

  for (const name of ['SECRETS_KEY', 'JWT_KEYS', 'PUBLIC_URL', 'CHANNELS', 'DATABASE_URL']) {
    it(`is refused without ${name}`, () => {
      expect(namesIn(problemsOf({ ...PRODUCTION, [name]: undefined }))).to.deep.equal([name]);
    });
  }

  it('is refused with a public address that is not https, and without any channel', () => {
    const plain = { ...PRODUCTION, PUBLIC_URL: 'http://pay.example' };
    expect(namesIn(problemsOf(plain))).to.deep.equal(['PUBLIC_URL']);
    expect(namesIn(problemsOf({ ...PRODUCTION, CHANNELS: ' , ' }))).to.deep.equal(['CHANNELS']);
  });

  const [, developmentKey] = DEVELOPMENT_KEYS.split(':') as [string, string];
  const DISGUISES = {
    'as it is published': DEVELOPMENT_KEYS,
    'behind a key of its own': `${fullKey('third')},${DEVELOPMENT_KEYS}`,
    'under another name': `prod:${developmentKey}`,
    'written without its padding': `dev:${developmentKey.replace(/=+$/, '')}`,
  };
  for (const name of ['SECRETS_KEY', 'JWT_KEYS']) {
    for (const [disguise, keys] of Object.entries(DISGUISES)) {
      it(`is refused with the development key in ${name}, ${disguise}`, () => {
        const problems = problemsOf({ ...PRODUCTION, [name]: keys });
        expect(namesIn(problems)).to.deep.equal([name]);
        expect(problems.join()).to.not.include(developmentKey.replace(/=+$/, ''));
      });
    }
  }

  it('is refused when HTTPS ends nowhere, unless that is meant', () => {
    const plain = { ...PRODUCTION, TRUST_PROXY: undefined };
    expect(namesIn(problemsOf(plain))).to.deep.equal(['TRUST_PROXY']);
    expect(problemsOf({ ...plain, REQUIRE_HTTPS: 'false' })).to.deep.equal([]);
    expect(problemsOf({ ...plain, TLS_CERT: 'a.pem', TLS_KEY: 'b.pem' })).to.deep.equal([]);
    expect(namesIn(problemsOf({ ...PRODUCTION, TLS_CERT: 'a.pem' }))).to.deep.equal(['TLS_CERT']);
  });

  it('trusts a number of proxies outside of production alone', () => {
    const counted = { ...PRODUCTION, TRUST_PROXY: '2' };
    expect(namesIn(problemsOf(counted))).to.deep.equal(['TRUST_PROXY']);
    expect(problemsOf({ ...counted, MALIPO_ENV: 'development' })).to.deep.equal([]);
  });

  for (const proxies of ['loopback', '10.0.0.0/8, ::1', '203.0.113.7']) {
    it(`trusts the proxies ${proxies}`, () => {
      expect(problemsOf({ ...PRODUCTION, TRUST_PROXY: proxies })).to.deep.equal([]);
    });
  }

  for (const proxies of ['everybody', '10.0.0.0/33', '10.0.0.1/8/8', '1.2.3', ',']) {
    it(`does not know the proxies ${proxies}`, () => {
      const problems = problemsOf({ ...PRODUCTION, TRUST_PROXY: proxies });
      expect(namesIn(problems)).to.deep.equal(['TRUST_PROXY']);
    });
  }

  for (const simulated of [
    { CHANNELS: '63902=simulator' },
    { CHANNELS: '63902=other,63903=simulator' },
    { SIMULATOR_URL: 'http://127.0.0.1:8090' },
  ]) {
    it(`is refused with ${Object.entries(simulated)[0]!.join(' = ')}`, () => {
      expect(problemsOf({ ...PRODUCTION, ...simulated })).to.have.length(1);
    });
  }
});
