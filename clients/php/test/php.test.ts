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
  more: keepsItsToken,
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
}
