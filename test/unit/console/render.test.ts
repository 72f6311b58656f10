import { expect } from 'chai';
import { h } from 'preact';
import { renderBarePage, renderPart } from '../../../src/console/shell/render.tsx';
import type { OpenVisit } from '../../../src/console/visit.ts';

describe('A page of the console', () => {
  it('spells out characters that turn or hide the words beside them, and keeps lines', async () => {
    // A part without merchants asks nobody.
    const part = await renderPart(
      { service: {} } as OpenVisit,
      h('p', { title: 'a\u2066b' } as object, 'KES \u202e05\u200b\u009b\tx\ny'),
    );
    expect(part).to.equal('<p title="a\\u2066b">KES \\u202e05\\u200b\\u009b\tx\ny</p>');
    const page = renderBarePage('Duka\u200f', h('p', null, 'a\u{e0001}b'));
    expect(page).to.include('<title>Duka\\u200f · Malipo</title>');
    expect(page).to.include('<p>a\\udb40\\udc01b</p>');
  });
});
