import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sniffImage } from './picture-reader.ts';

test.each([
  ['image/png', '89504e470d0a1a0a0000000d'],
  ['image/jpeg', 'ffd8ffe000104a46'],
  ['image/gif', Buffer.from('GIF89a').toString('hex')],
  ['image/gif', Buffer.from('GIF87a').toString('hex')],
  ['image/webp', Buffer.from('RIFF....WEBPVP8 ').toString('hex')],
  ['image/avif', `00000020${Buffer.from('ftypavif').toString('hex')}`],
])('%s is told by its first bytes', (type, hex) => {
  expect(sniffImage(Buffer.from(hex, 'hex'))).toBe(type);
});

test.each([
  ['nothing', ''],
  ['HTML', '<html><script>alert(1)</script>'],
  ['SVG', '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'],
  ['HTML before a picture', '<b>\x89PNG\r\n\x1a\n'],
  ['RIFF that is no picture', 'RIFF....WAVEfmt '],
  ['a video', '\0\0\0 ftypisom'],
])('%s is no picture', (_name, text) => {
  expect(sniffImage(Buffer.from(text, 'latin1'))).toBeNull();
});

test('no text that a browser could take for a page is a picture', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(sniffImage(Buffer.from(`<${text}`))).toBeNull();
    }),
  );
});
