import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';

const ROOT = new URL('../../', import.meta.url);
const DOCUMENTS = ['', 'docs/', 'docs/guides/'].flatMap((folder) =>
  readdirSync(new URL(folder, ROOT))
    .filter((name) => name.endsWith('.md'))
    .map((name) => new URL(folder + name, ROOT)),
);
const SAMPLES = /^```[\s\S]*?^```/gm;
const LINKS = /\]\(([^()\s#]*)(?:#([^()\s]+))?\)/g;

describe('The documents', () => {
  for (const document of DOCUMENTS) {
    const name = document.href.slice(ROOT.href.length);
    it(`lead to files and headings that are there: ${name}`, () => {
      for (const [link, path = '', heading] of textOf(document).matchAll(LINKS)) {
        if (/^(?:[a-z]+:|\/)/.test(path)) continue;
        const target = path === '' ? document : new URL(path, document);
        expect(existsSync(target), link).to.equal(true);
        if (heading !== undefined) expect(anchorsOf(target), link).to.include(heading);
      }
    });
  }
});

function textOf(document: URL): string {
  return readFileSync(document, 'utf8').replace(SAMPLES, '');
}

/** Makes the anchors of the headings as GitHub does: a repeated one has its number. */
function anchorsOf(document: URL): string[] {
  const anchors: string[] = [];
  for (const [, title] of textOf(document).matchAll(/^#+ (.+)$/gm)) {
    const slug = title!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
    const times = anchors.filter((anchor) => anchor.replace(/-\d+$/, '') === slug).length;
    anchors.push(times === 0 ? slug : `${slug}-${times}`);
  }
  return anchors;
}
