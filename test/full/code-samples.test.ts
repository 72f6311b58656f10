import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { codeSamples } from '../../src/api/documentation/samples.ts';
import { type Endpoint, endpoints } from '../../src/api/endpoints/endpoints.ts';
import { clientOf } from '../support/api-client.ts';
import { output } from '../support/documented-samples.ts';
import { makeFolder } from '../support/make-folder.ts';
import { describeWith } from '../support/programs.ts';
import { createTestMerchant } from '../support/test-merchant.ts';
import { startTestService, type TestService } from '../support/test-service.ts';

interface Language {
  label: string;
  /** The program that runs a sample. */
  program: string;
  /** Of a sample's file. */
  extension: string;
  /** Checks the syntax of these files, and runs nothing. */
  check: (files: string[], folder: string) => Promise<unknown>;
}

const each = (program: string, option: string) => (files: string[]) =>
  Promise.all(files.map((file) => output(program, [option, file])));

const LANGUAGES: Language[] = [
  { label: 'curl', program: 'bash', extension: 'sh', check: each('bash', '-n') },
  { label: 'Node', program: 'node', extension: 'mjs', check: each(process.execPath, '--check') },
  {
    label: 'Python',
    program: 'python3',
    extension: 'py',
    check: (files) => output('python3', ['-m', 'py_compile', ...files]),
  },
  { label: 'PHP', program: 'php', extension: 'php', check: each('php', '-l') },
  {
    label: 'Java',
    program: 'java',
    extension: 'java',
    check: (files, folder) => output('javac', ['-d', folder, ...files]),
  },
];

describe('The samples of the reference', () => {
  let service: TestService;

  before(async () => {
    service = await startTestService({ workers: [] });
  });

  after(() => service.close());

  for (const language of LANGUAGES) {
    const { label, program, extension } = language;
    const programs =
      label === 'Java' ? ['java', 'javac'] : [program, ...(label === 'curl' ? ['curl'] : [])];

    describeWith(programs, `in ${label}`, () => {
      const folder = makeFolderOf(label);

      function write(id: keyof typeof endpoints, edit = (source: string) => source): string {
        const samples = codeSamples(id, endpoints[id] as Endpoint, service.origin);
        const { source } = samples.find((sample) => sample.label === label)!;
        const file = join(folder(), `${id[0]!.toUpperCase()}${id.slice(1)}.${extension}`);
        writeFileSync(file, edit(source));
        return file;
      }

      it('have the syntax of the language, for every endpoint', async () => {
        const files = Object.keys(endpoints).map((id) => write(id as keyof typeof endpoints));
        await language.check(files, folder());
      });

      it('get a token, charge a customer and list collections', async () => {
        const { app_key, app_secret, access } = await createTestMerchant(service);
        const run = (file: string) => output(program, [file], { env: { ACCESS: access } });
        const withCredentials = (source: string) =>
          source.replace('ak_3f0c…', app_key).replace('as_9Kx…', app_secret);
        expect(await run(write('issueAppTokens', withCredentials))).to.include('Token issued');
        const initiated = await run(write('initiateCollection'));
        expect(initiated).to.include('pending').and.include('order-1001');
        const listed = await run(write('listCollections'));
        expect(listed).to.include('order-1001').and.include('+254712345678');
        const { body } = await clientOf(service, { access }).get('/collections/checkouts');
        expect(body.count).to.equal(1);
        expect(body.results[0]).to.include({ amount: '250.00', account_number: 'INV-7' });
      });
    });
  }
});

/** A folder for each language, made when it is first wanted. */
function makeFolderOf(label: string): () => string {
  let folder: string | undefined;
  return () => {
    folder ??= makeFolder(`samples-${label}`);
    return folder;
  };
}
