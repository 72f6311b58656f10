import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { type ClientFile, describeClientFile } from '../../../test/support/client-file.ts';
import { makeFolder } from '../../../test/support/make-folder.ts';

const DRIVER = fileURLToPath(new URL('driver.php', import.meta.url));

/** PHP may be there without it. */
const hasCurl = spawnSync('php', ['-r', 'curl_version();']).status === 0;

describeClientFile('PHP', ['php', DRIVER], {
  needs: hasCurl ? 'php' : 'php-curl',
  more: (file) => {
    keepsItsToken(file);
    sendsUtf8(file);
  },
});

function keepsItsToken(file: ClientFile): void {
  it('keeps its token for the next request, where only this program can read it', async () => {
    const { front } = file.world;
    const tokenFile = join(makeFolder('php'), 'token');
    for (const _ of ['first', 'second']) {
      await file.use(front.origin, { tokenFile });
      await file.done('get', '/channels', {});
    }
    expect(file.sentTo('/auth/app/token')).to.have.length(1);
    expect(statSync(tokenFile).mode & 0o777).to.equal(0o600);
    file.merchant = await file.world.newMerchant();
    await file.use(front.origin, { tokenFile });
    await file.done('get', '/channels', {});
    expect(file.sentTo('/auth/app/token')).to.have.length(2);
  });

  it('keeps no token where there is no folder for it', async () => {
    const tokenFile = join(makeFolder('php'), 'missing', 'token');
    const { error } = await file.use(file.world.front.origin, { tokenFile });
    expect(error!.message).to.include('folder for tokenFile');
  });
}

function sendsUtf8(file: ClientFile): void {
  it('sends no text that is not UTF-8, and says so', async () => {
    const body = { ...file.world.collection('latin-1'), account_number: 'Café' };
    const error = await file.failed('post in Latin-1', '/collections/checkouts/initiate', body);
    expect(error).to.include({ status: 0, code: 'body_not_json', may_be_done: false });
    expect(error.idempotency_key).to.be.a('string');
    expect(file.sentTo('/collections/checkouts/initiate')).to.deep.equal([]);
  });
}
