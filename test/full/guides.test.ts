import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { signatureHeaders } from '../../src/domain/webhooks/sign.ts';
import { output, samplesOf } from '../support/documented-samples.ts';
import { eventually } from '../support/eventually.ts';
import { makeFolder } from '../support/make-folder.ts';
import { describeWith } from '../support/programs.ts';
import { tryReceiver } from '../support/receiver-sample.ts';
import { createTestMerchant } from '../support/test-merchant.ts';
import { startTestService, type TestService } from '../support/test-service.ts';

describeWith(['curl', 'bash'], 'The guide to the first payment', () => {
  let service: TestService;

  before(async () => {
    service = await startTestService();
  });

  after(() => service.close());

  it('leads from the credentials to a verified webhook', async () => {
    const merchant = await createTestMerchant(service);
    const folder = makeFolder('first-payment');
    mkdirSync(join(folder, '.sandbox'));
    const sandbox = { base_url: service.baseUrl, merchants: [merchant] };
    writeFileSync(join(folder, '.sandbox/sandbox.json'), JSON.stringify(sandbox));
    const guide = samplesOf('docs/guides/first-payment.md');
    writeFileSync(join(folder, 'receiver.mjs'), guide.receiver!);
    const port = String(await freePort());
    // A request that nobody has signed tells when the receiver is there, and that it refuses it.
    const waitForReceiver = 'until curl -s -o answer 127.0.0.1:9000; do sleep 0.1; done\n';
    const script = [guide.credentials, guide.token, guide.start, waitForReceiver, guide.collection];
    const shell = spawn('bash', ['-c', `${script.join('').replaceAll('9000', port)}\nwait`], {
      cwd: folder,
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines: string[] = [];
    createInterface(shell.stdout).on('line', (line) => lines.push(line));
    try {
      await eventually('the webhook', async () => lines.includes('Ship order-1'));
    } finally {
      process.kill(-shell.pid!);
    }
    expect(lines).to.include('Not authentic');
    expect(lines.at(-2)).to.match(/^collection transaction\.completed order-1 250\.00 \w{10}$/);
  });
});

describe('The receivers of the guides', () => {
  for (const guide of ['first-payment', 'webhooks']) {
    const write = (): { file: string; cwd: string } => {
      const cwd = makeFolder(`receiver-${guide}`);
      writeFileSync(join(cwd, 'receiver.mjs'), samplesOf(`docs/guides/${guide}.md`).receiver!);
      return { file: 'receiver.mjs', cwd };
    };

    it(`ship for the collection alone, after all that a stranger has posted (${guide})`, async () => {
      const { unsigned, forged, signed, lines } = await tryReceiver(write());
      expect([unsigned, forged, ...signed]).to.deep.equal([401, 401, 200, 200, 200]);
      expect(lines.filter((line) => line.startsWith('Ship order-1'))).to.have.length(1);
    });

    it(`do not start without a secret (${guide})`, async () => {
      const { file, cwd } = write();
      const env = { APP_SECRET: '', PORT: '0', RECEIVER_PORT: '0' };
      const failure = await output(process.execPath, [file], { cwd, env }).catch((error) => error);
      expect(failure.stderr).to.include('Set APP_SECRET');
    });
  }
});

/** A port that nobody listens on. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

interface Language {
  name: string;
  programs: string[];
  /** The file of the guide's code. */
  file: string;
  /** A program that calls it with each four arguments, and writes the results. */
  driver: { file: string; code: string };
  run: (folder: string, args: string[]) => Promise<string>;
}

const LANGUAGES: Language[] = [
  {
    name: 'node',
    programs: ['node'],
    file: 'webhook.mjs',
    driver: {
      file: 'driver.mjs',
      code: `import { isAuthentic } from './webhook.mjs';
const args = process.argv.slice(2);
for (let i = 0; i < args.length; i += 4)
  console.log(isAuthentic(args[i], args[i + 1], Buffer.from(args[i + 2]), args[i + 3]));`,
    },
    run: (cwd, args) => output(process.execPath, ['driver.mjs', ...args], { cwd }),
  },
  {
    name: 'python',
    programs: ['python3'],
    file: 'webhook.py',
    driver: {
      file: 'driver.py',
      code: `import sys
from webhook import is_authentic
args = sys.argv[1:]
for i in range(0, len(args), 4):
    print(is_authentic(args[i], args[i + 1], args[i + 2].encode(), args[i + 3]))`,
    },
    run: (cwd, args) => output('python3', ['driver.py', ...args], { cwd }),
  },
  {
    name: 'php',
    programs: ['php'],
    file: 'webhook.php',
    driver: {
      file: 'driver.php',
      code: `<?php
require 'webhook.php';
foreach (array_chunk(array_slice($argv, 1), 4) as $each) echo json_encode(isAuthentic(...$each)), "\\n";`,
    },
    run: (cwd, args) => output('php', ['driver.php', ...args], { cwd }),
  },
  {
    name: 'java',
    programs: ['java', 'javac'],
    file: 'Webhook.java',
    driver: {
      file: 'Driver.java',
      code: `public class Driver {
  public static void main(String[] a) throws Exception {
    for (int i = 0; i < a.length; i += 4)
      System.out.println(Webhook.isAuthentic(a[i], a[i + 1], a[i + 2].getBytes("UTF-8"), a[i + 3]));
  }
}`,
    },
    run: async (cwd, args) => {
      await output('javac', ['-encoding', 'UTF-8', 'Webhook.java', 'Driver.java'], { cwd });
      return output('java', ['Driver', ...args], { cwd });
    },
  },
];

const SECRET = 'as_a-secret-of-an-app';
const BODY = '{"notification":{"type":"collection"},"data":{"ref_no":"order-1"}}';
const TOLERANCE_S = 300;

/** What a receiver is given, each with whether it is authentic. */
function cases(): [expected: boolean, ...args: string[]][] {
  const nowS = Math.floor(Date.now() / 1_000);
  const signed = (timestamp: number, body = BODY, secret = SECRET) =>
    signatureHeaders({ event_id: 'e', sequence: 1, timestamp, body, secrets: [secret] });
  const now = String(nowS);
  const { 'x-service-signature': signature } = signed(nowS);
  const late = nowS - 2 * TOLERANCE_S;
  const early = nowS + 2 * TOLERANCE_S;
  return [
    [true, now, signature, BODY, SECRET],
    [true, now, signed(nowS, BODY, 'whsec_YWJj')['x-service-signature'], BODY, 'whsec_YWJj'],
    [false, now, signature, `${BODY} `, SECRET],
    [false, now, signature, BODY, 'as_another'],
    [false, String(nowS + 1), signature, BODY, SECRET],
    [false, String(late), signed(late)['x-service-signature'], BODY, SECRET],
    [false, String(early), signed(early)['x-service-signature'], BODY, SECRET],
    [false, now, '', BODY, SECRET],
    [false, '', signature, BODY, SECRET],
    [false, 'soon', signature, BODY, SECRET],
    [false, now, signature.slice(2), BODY, SECRET],
    [false, now, 'no hex at all', BODY, SECRET],
  ];
}

describe('The guide to verifying webhooks', () => {
  const guide = samplesOf('docs/guides/verify-a-webhook.md');

  for (const { name, programs, file, driver, run } of LANGUAGES) {
    describeWith(programs, `in ${name}`, () => {
      it('takes what we have signed, and nothing else', async () => {
        const folder = makeFolder(`verify-${name}`);
        writeFileSync(join(folder, file), guide[name]!);
        writeFileSync(join(folder, driver.file), driver.code);
        const given = cases();
        const results = await run(
          folder,
          given.flatMap(([, ...args]) => args),
        );
        const answers = results.toLowerCase().trim().split('\n');
        expect(answers).to.deep.equal(given.map(([expected]) => String(expected)));
      });
    });
  }
});
