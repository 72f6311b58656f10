import { expect } from 'chai';
import fc from 'fast-check';
import {
  derivedKey,
  equalInConstantTime,
  type KeyRing,
  keyRingFromText,
  mac,
  open,
  seal,
} from '../../../src/process/key-ring.ts';

const KEY_BYTES = 32;

function key(id: string, bytes = KEY_BYTES): string {
  return `${id}:${Buffer.alloc(bytes, id).toString('base64')}`;
}

describe('A key ring', () => {
  const old = keyRingFromText(key('old'));
  const rotated = keyRingFromText(`${key('new')},${key('old')}`);

  it('encrypts with its first key and decrypts with every one', () => {
    expect(seal(rotated, 'x', 'c').keyId).to.equal('new');
    expect(open(rotated, seal(rotated, 'by the new', 'c'), 'c')).to.equal('by the new');
    expect(open(rotated, seal(old, 'by the old', 'c'), 'c')).to.equal('by the old');
  });

  it('names the key that a secret needs when it does not have it', () => {
    expect(() => open(old, seal(rotated, 'x', 'c'), 'c')).to.throw(/no key new/);
  });

  it('allows spaces around its commas', () => {
    const ring = keyRingFromText(` ${key('a')} , ${key('b')} `);
    expect([...ring.byId.keys()]).to.deep.equal(['a', 'b']);
    expect(ring.current.id).to.equal('a');
  });

  const WRONG: Readonly<Record<string, string>> = {
    nothing: '',
    'a comma': ',',
    'a comma at the end': `${key('a')},`,
    'an id alone': 'justanid',
    'no key': 'a:',
    'no id': key('a').slice(1),
    'a key of 31 bytes': key('a', 31),
    'a key of 33 bytes': key('a', 33),
    'an id with a space': key('a b'),
    'an id of 33 characters': key('a'.repeat(33)),
    'a second key that is wrong': `${key('a')},b:AAAA`,
    'an alphabet that is not base64': `a:${'_'.repeat(43)}=`,
    'one id twice': `${key('a')},${key('a')}`,
  };
  for (const [what, text] of Object.entries(WRONG)) {
    it(`is refused when it is ${what}, without repeating a key`, () => {
      expect(() => keyRingFromText(text)).to.throw(/^must|^names the key a twice$/);
      for (const part of text.split(/[:,]/).filter((piece) => piece.length > 3)) {
        expect(() => keyRingFromText(text)).to.not.throw(part);
      }
    });
  }
});

describe('A sealed secret', () => {
  const ring = keyRingFromText(key('k'));

  it('opens to what was sealed, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, context) => {
        expect(open(ring, seal(ring, text, context), context)).to.equal(text);
      }),
    );
  });

  it('is different every time', () => {
    const sealed = Array.from({ length: 50 }, () =>
      seal(ring, 'x', 'c').ciphertext.toString('hex'),
    );
    expect(new Set(sealed).size).to.equal(50);
  });

  it('does not contain what was sealed', () => {
    expect(seal(ring, 'very secret', 'c').ciphertext.includes('very secret')).to.equal(false);
  });

  it('does not open in another context', () => {
    const sealed = seal(ring, 'x', 'app_secret:1');
    expect(() => open(ring, sealed, 'app_secret:2')).to.throw();
  });

  it('does not open under another key of the same name', () => {
    const other: KeyRing = keyRingFromText(`k:${Buffer.alloc(KEY_BYTES, 'z').toString('base64')}`);
    expect(() => open(other, seal(ring, 'x', 'c'), 'c')).to.throw();
  });

  it('does not open with any one of its bits turned', () => {
    const { keyId, ciphertext } = seal(ring, 'secret', 'c');
    for (let bit = 0; bit < ciphertext.length * 8; bit += 1) {
      const altered = Buffer.from(ciphertext);
      altered[bit >> 3]! ^= 1 << (bit & 7);
      expect(() => open(ring, { keyId, ciphertext: altered }, 'c'), `bit ${bit}`).to.throw();
    }
  });

  it('does not open when it was cut, at any length', () => {
    const { keyId, ciphertext } = seal(ring, 'secret', 'c');
    for (let length = 0; length < ciphertext.length; length += 1) {
      const cut = { keyId, ciphertext: ciphertext.subarray(0, length) };
      expect(() => open(ring, cut, 'c'), `${length} bytes`).to.throw();
    }
  });
});

describe('A message authentication code', () => {
  const [a, b] = [...keyRingFromText(`${key('a')},${key('b')}`).byId.values()];

  it('is the same for the same key, purpose and message, and for no other', () => {
    const codes = [
      mac(derivedKey(a!, 'callback'), 'm'),
      mac(derivedKey(b!, 'callback'), 'm'),
      mac(derivedKey(a!, 'other'), 'm'),
      mac(derivedKey(a!, 'callback'), 'n'),
    ].map((code) => code.toString('hex'));
    expect(new Set(codes).size).to.equal(codes.length);
    expect(mac(derivedKey(a!, 'callback'), 'm').toString('hex')).to.equal(codes[0]);
    expect(codes[0]).to.have.length(64);
  });
});

describe('Comparing in constant time', () => {
  it('agrees with ===, for texts of any two lengths', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, two) => {
        expect(equalInConstantTime(one, two)).to.equal(one === two);
        expect(equalInConstantTime(one, one)).to.equal(true);
        expect(equalInConstantTime(Buffer.from(one), one)).to.equal(true);
      }),
    );
  });
});
