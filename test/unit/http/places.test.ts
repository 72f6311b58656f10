import { expect } from 'chai';
import { placesFor } from '../../../src/http/places.ts';

describe('Places for work', () => {
  it('are limited in all and for each member, and free again once given back', () => {
    const take = placesFor({ all: 3, ofMember: 2 });
    const [first, second] = [take('a@x.example'), take('a@x.example')];
    expect(take('a@x.example'), 'of one member').to.equal(null);
    const other = take('b@x.example');
    expect(take('c@x.example'), 'in all').to.equal(null);
    first!();
    first!();
    const again = take('a@x.example');
    expect(again).to.be.a('function');
    expect(take('a@x.example'), 'given back twice, free once').to.equal(null);
    for (const leave of [second, other]) leave!();
    expect(take('c@x.example')).to.be.a('function');
  });
});
