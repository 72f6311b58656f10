import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { findFreePort } from '../../scripts/sandbox/processes/port.ts';
import { ROOT_FOLDER } from '../../scripts/sandbox/programs.ts';
import { makeFolder } from '../support/make-folder.ts';
import { tryReceiver } from '../support/receiver-sample.ts';
import { createTestMerchant } from '../support/test-merchant.ts';
import { startTestService, type TestService } from '../support/test-service.ts';

const run = promisify(execFile);
const CLIENT = join(ROOT_FOLDER, 'clients/typescript');

/** The options of a program that is checked as strictly as can be, with what it installs. */
const COMPILER_OPTIONS = {
  ...{ module: 'nodenext', target: 'es2023', strict: true, types: ['node'], skipLibCheck: false },
};

const COMMONJS = `import malipo = require('malipo-client');
const client: malipo.MalipoClient = malipo.createClient({ baseUrl: 'x', appKey: 'a', appSecret: 's' });
const error = new malipo.WebhookVerificationError('No');
console.log(error.name, typeof client.initiatePayout);
`;

describe('The package of the TypeScript client', () => {
  let service: TestService;
  let shop: string;

  before(async () => {
    service = await startTestService();
    shop = makeFolder('shop');
    await run('npm', ['pack', '--pack-destination', shop], { cwd: CLIENT });
    writeFileSync(join(shop, 'package.json'), JSON.stringify({ type: 'module' }));
    writeFileSync(
      join(shop, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: COMPILER_OPTIONS, include: ['*.ts', '*.cts'] }),
    );
    const { version } = JSON.parse(readFileSync(join(CLIENT, 'package.json'), 'utf8'));
    const quietly = ['--prefer-offline', '--no-audit', '--no-fund'];
    await run('npm', ['install', ...quietly, `./malipo-client-${version}.tgz`], { cwd: shop });
    mkdirSync(join(shop, 'node_modules/@types'));
    for (const name of ['@types/node', 'undici-types']) {
      symlinkSync(join(ROOT_FOLDER, 'node_modules', name), join(shop, 'node_modules', name));
    }
    const readme = readFileSync(join(CLIENT, 'README.md'), 'utf8');
    const sample = readme.match(/<!-- sample: first-payment -->\n```ts\n(.*?)\n```/s);
    writeFileSync(join(shop, 'first-payment.ts'), sample![1]!);
    const types = readFileSync(join(CLIENT, 'test/types.ts'), 'utf8');
    writeFileSync(join(shop, 'types.ts'), types.replace('../src/index.ts', 'malipo-client'));
    writeFileSync(join(shop, 'commonjs.cts'), COMMONJS);
    await compile();
  });

  after(() => service.close());

  async function compile(): Promise<void> {
    const tsc = join(ROOT_FOLDER, 'node_modules/.bin/tsc');
    const { stdout } = await run(tsc, [], { cwd: shop }).catch((error) => error);
    expect(stdout).to.equal('');
  }

  it('is installed with its types, and the program of its README pays with it', async () => {
    const merchant = await createTestMerchant(service);
    const { stdout } = await run(process.execPath, ['first-payment.js'], {
      cwd: shop,
      env: {
        BASE_URL: service.baseUrl,
        APP_KEY: merchant.app_key,
        APP_SECRET: merchant.app_secret,
        RECEIVER_PORT: String(await findFreePort()),
      },
      timeout: 30_000,
    });
    expect(stdout).to.match(/^[0-9a-f-]{36} pending$/m);
    expect(stdout).to.match(/^transaction\.completed client-1 250\.00 \w+$/m);
  });

  it('is loaded by a CommonJS program, with its types', async () => {
    const { stdout } = await run(process.execPath, ['commonjs.cjs'], { cwd: shop });
    expect(stdout).to.equal('WebhookVerificationError function\n');
  });

  it('has a receiver in its README that takes a webhook after what a stranger has posted', async () => {
    // The charge gets no answer meanwhile.
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const env = { BASE_URL: `http://127.0.0.1:${port}`, APP_KEY: 'ak_1' };
    const reception = await tryReceiver({ file: 'first-payment.js', cwd: shop, env });
    silent.close();
    const { unsigned, forged, signed, lines } = reception;
    expect([unsigned, forged, ...signed]).to.deep.equal([401, 401, 200, 200, 200]);
    expect(lines).to.deep.equal(['transaction.completed order-1 250.00 TKJ7A1B2C3']);
  });
});
