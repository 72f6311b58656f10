import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { CURRENT, clientFiles, RELEASED } from '../../../../scripts/openapi/client-files.ts';
import { compareDocuments } from '../../../../scripts/openapi/compare-documents.ts';

/**
 * What a release takes from callers on purpose, as the comparison words it. Each needs a line in
 * the changelog. The list is emptied when released.json is renewed.
 */
const ACCEPTED = ['POST /payouts/initiate: request.app_code is required now'];

describe('The document that the TypeScript client keeps', () => {
  it('is the one that the code makes, and so is what is made from it (npm run openapi)', async () => {
    for (const [file, text] of await clientFiles()) {
      const isFresh = existsSync(file) && readFileSync(file, 'utf8') === text;
      expect(isFresh, `${file.pathname} is as the code says`).to.equal(true);
    }
  });

  it('keeps everything that callers of the last release rely on', () => {
    const read = (file: URL) => JSON.parse(readFileSync(file, 'utf8'));
    expect(compareDocuments(read(RELEASED), read(CURRENT))).to.deep.equal(ACCEPTED);
  });
});
