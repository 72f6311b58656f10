import { expect } from 'chai';
import { ConfigError } from '../../src/process/config.ts';
import { DEVELOPMENT_KEYS } from '../../src/process/key-ring.ts';
import { loadConfig } from '../../src/service/service.ts';

/** A key of 32 bytes under an id: one text again and again. */
function key(text: string | number, id = 'own'): string {
  return `${id}:${Buffer.alloc(32, text).toString('base64')}`;
}

const PRODUCTION = {
  MALIPO_ENV: 'production',
  DATABASE_URL: 'postgres://malipo:pa55word@db.example/malipo',
  SECRETS_KEY: key('only we know it'),
  JWT_KEYS: key('for tokens alone'),
  PUBLIC_URL: 'https://pay.example',
  TRUST_PROXY: 'loopback',
  CHANNELS: '63902=other',
};

/** The variables that an environment is refused for, and the whole text. */
function refusalOf(environment: NodeJS.ProcessEnv): { names: string[]; text: string } {
  try {
    loadConfig(environment);
  } catch (error) {
    expect(error).to.be.instanceOf(ConfigError);
    const [, ...lines] = (error as Error).message.split('\n');
    return { names: lines.map((line) => line.trim().split(' ')[0]!), text: lines.join('\n') };
  }
  return { names: [], text: '' };
}

/** Starts in production with these changes, and says which variables are refused. */
const refused = (changes: NodeJS.ProcessEnv) => refusalOf({ ...PRODUCTION, ...changes }).names;

describe('Production does not start', () => {
  it('but for the following reasons', () => {
    expect(refused({})).to.deep.equal([]);
  });

  for (const name of ['SECRETS_KEY', 'JWT_KEYS']) {
    const GUESSABLE = { 'all zeroes': key(0), 'one byte repeated': key(255) };
    for (const [what, weak] of Object.entries(GUESSABLE)) {
      it(`with a key in ${name} that is ${what}, also as an old one`, () => {
        expect(refused({ [name]: weak })).to.deep.equal([name]);
        const { names, text } = refusalOf({
          ...PRODUCTION,
          [name]: `${key('a third key', 'new')},${weak}`,
        });
        expect(names).to.deep.equal([name]);
        expect(text).to.not.include(weak.split(':')[1]);
      });
    }

    it(`with one key under two ids in ${name}`, () => {
      const twice = `${key('a third key', 'k2')},${key('a third key', 'k1')}`;
      expect(refused({ [name]: twice })).to.deep.equal([name]);
    });
  }

  it('with a console that staff reach without HTTPS', () => {
    expect(refused({ CONSOLE_URL: 'http://console.example' })).to.deep.equal(['CONSOLE_URL']);
    expect(refused({ CONSOLE_URL: 'https://console.example' })).to.deep.equal([]);
  });

  it('with a key that serves both uses, in whatever place', () => {
    expect(refused({ JWT_KEYS: PRODUCTION.SECRETS_KEY })).to.deep.equal(['JWT_KEYS']);
    const old = `${key('a third key', 'k2')},${key('only we know it', 'k1')}`;
    expect(refused({ JWT_KEYS: old })).to.deep.equal(['JWT_KEYS']);
  });

  const WORLD = [
    '0.0.0.0/1,128.0.0.0/1',
    '128.0.0.0/1',
    '1',
    '0.0.0.0/0',
    '::/0',
    '::/1',
    '2000::/3',
    '10.0.0.0/8, 64.0.0.0/2',
    '::ffff:0:0/96',
    '::ffff:128.0.0.0/97',
    '::/80',
  ];
  for (const proxies of WORLD) {
    it(`with ${proxies} as proxies, which are the whole world or much of it`, () => {
      expect(refused({ TRUST_PROXY: proxies })).to.deep.equal(['TRUST_PROXY']);
    });
  }

  const OWN = [
    '10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,100.64.0.0/10,fc00::/7,fe80::/10',
    '104.16.0.0/13,172.64.0.0/13,2400:cb00::/32',
    '::ffff:10.0.0.0/104',
  ];
  for (const proxies of OWN) {
    it(`but does with ${proxies} as proxies`, () => {
      expect(refused({ TRUST_PROXY: proxies })).to.deep.equal([]);
    });
  }

  it('when webhooks may go inside', () => {
    expect(refused({ WEBHOOK_ALLOW_PRIVATE: 'true' })).to.deep.equal(['WEBHOOK_ALLOW_PRIVATE']);
    expect(refused({ WEBHOOK_ALLOW_PRIVATE: 'false' })).to.deep.equal([]);
  });

  it('when gateways would call back in plain text', () => {
    const plain = { GATEWAY_CALLBACK_URL: 'http://callbacks.example' };
    expect(refused(plain)).to.deep.equal(['GATEWAY_CALLBACK_URL']);
    expect(refused({ GATEWAY_CALLBACK_URL: 'https://callbacks.example' })).to.deep.equal([]);
  });

  it('when notices would go to another machine in plain text', () => {
    const hook = (NOTICE_HOOK_URL: string) => refused({ NOTICE_HOOK_URL });
    expect(hook('http://ops.example/hook')).to.deep.equal(['NOTICE_HOOK_URL']);
    expect(hook('http://10.0.0.7/hook')).to.deep.equal(['NOTICE_HOOK_URL']);
    for (const url of ['https://10.0.0.7/hook', 'http://localhost:9000', 'http://[::1]/hook']) {
      expect(hook(url), url).to.deep.equal([]);
    }
  });

  const NOWHERE = [
    ...['https://', 'https:///', 'https:///path', 'https://:8080', 'https://?', 'https://a b'],
    ...['https://localhost', 'https://LOCALHOST.:443', 'https://pay.localhost'],
    ...['https://127.0.0.1', 'https://127.1', 'https://2130706433', 'https://[::1]:8443'],
    ...['https://0.0.0.0', 'https://[::]', 'https://[::ffff:127.0.0.1]'],
  ];
  for (const url of NOWHERE) {
    it(`with ${url} as the public address, which merchants cannot reach`, () => {
      expect(refused({ PUBLIC_URL: url })).to.deep.equal(['PUBLIC_URL']);
    });
  }

  it('when the environment turns off the proof of TLS', () => {
    const name = 'NODE_TLS_REJECT_UNAUTHORIZED';
    expect(refused({ [name]: '0' })).to.deep.equal([name]);
    expect(refused({ [name]: '1' })).to.deep.equal([]);
  });

  it('and elsewhere all of this does', () => {
    const { DATABASE_URL } = PRODUCTION;
    const harmless = {
      SECRETS_KEY: key(0),
      JWT_KEYS: key(0),
      TRUST_PROXY: '0.0.0.0/1,128.0.0.0/1',
      WEBHOOK_ALLOW_PRIVATE: 'true',
      GATEWAY_CALLBACK_URL: 'http://127.0.0.1:8080',
      PUBLIC_URL: 'http://localhost:8080',
      NOTICE_HOOK_URL: 'http://ops.example/hook',
      NODE_TLS_REJECT_UNAUTHORIZED: '0',
    };
    expect(refusalOf({ DATABASE_URL, ...harmless }).names).to.deep.equal([]);
  });
});

describe('The development key', () => {
  const { DATABASE_URL } = PRODUCTION;
  const isRefused = (host: string) => {
    const hosts = { HOST: host, CONSOLE_HOST: host };
    const { names } = refusalOf({ DATABASE_URL, ...hosts, SECRETS_KEY: DEVELOPMENT_KEYS });
    expect(names.includes('CONSOLE_HOST'), host).to.equal(names.includes('HOST'));
    return names.includes('HOST');
  };

  it('is for a host of this machine alone', () => {
    for (const host of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1', 'localhost']) {
      expect(isRefused(host), host).to.equal(false);
    }
    const others = ['0.0.0.0', '::', '10.0.0.7', 'pay.example'];
    const lookalikes = ['127.0.0.1.example.com', '127.example', 'localhost.example', '::1.example'];
    for (const host of [...others, ...lookalikes]) expect(isRefused(host), host).to.equal(true);
  });
});
