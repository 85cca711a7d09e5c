import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readSubject, readTokenId } from './subjects.ts';

const ADDRESS = `0x${'ab'.repeat(20)}`;
const HASH = `0x${'cd'.repeat(32)}`;

test.each([
  [ADDRESS, { kind: 'address', address: ADDRESS }],
  [`  ${ADDRESS.toUpperCase().replace('0X', '0x')}\n`, { kind: 'address', address: ADDRESS }],
  [`${ADDRESS}/7`, { kind: 'nft', address: ADDRESS, tokenId: '7' }],
  [`${ADDRESS}:0x10`, { kind: 'nft', address: ADDRESS, tokenId: '16' }],
  [`${ADDRESS} 007`, { kind: 'nft', address: ADDRESS, tokenId: '7' }],
  [HASH, { kind: 'hash', hash: HASH }],
  ['0', { kind: 'block', number: 0 }],
  ['#20000000', { kind: 'block', number: 20_000_000 }],
  ['0x1', { kind: 'aptos', address: `0x${'0'.repeat(63)}1` }],
  ['vitalik.eth', { kind: 'name', name: 'vitalik.eth' }],
  ['ніколас.eth', { kind: 'name', name: 'ніколас.eth' }],
])('%s is understood', (text, subject) => {
  expect(readSubject(text)).toEqual(subject);
});

test.each([
  '',
  ' ',
  'vitalik',
  `${ADDRESS}/`,
  `${ADDRESS}/-1`,
  `${ADDRESS}/${2n ** 256n}`,
  '-1',
  '1.5e',
  `0x${'a'.repeat(65)}`,
  '<script>',
])('“%s” names nothing', (text) => {
  expect(readSubject(text)).toBeNull();
});

test('no text is answered by an error, nor by more than it says', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: fc.constantFrom('0', 'x', 'a', '/', '.', ' ') })),
      (text) => {
        const subject = readSubject(text);
        if (subject !== null) expect(JSON.stringify(subject).length).toBeLessThan(500);
      },
    ),
  );
});

test('an id is the same in decimal and in hexadecimal', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), (id) => {
      expect(readTokenId(id.toString())).toBe(id.toString());
      expect(readTokenId(`0x${id.toString(16)}`)).toBe(id.toString());
    }),
  );
});
