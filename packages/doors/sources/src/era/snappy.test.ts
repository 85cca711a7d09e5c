import { compressFramed } from '@chainstead/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EraDamage } from './era-damage.ts';
import { decompress, maskedCrc32c } from './snappy.ts';

const IDENTIFIER = Buffer.from('ff060000734e61507059', 'hex');
const MAX = 1_000_000;

/** A chunk around a snappy block. */
function framed(block: string, plain: Buffer): Buffer {
  const payload = Buffer.from(block, 'hex');
  const head = Buffer.alloc(8);
  head.writeUIntLE(payload.length + 4, 1, 3);
  head.writeUInt32LE(maskedCrc32c(plain), 4);
  return Buffer.concat([IDENTIFIER, head, payload]);
}

describe('framed snappy', () => {
  test('gives back what was stored', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(900), (bytes, repeats) => {
        const whole = Buffer.concat(Array.from({ length: repeats }, () => bytes));
        expect(decompress(compressFramed(whole), MAX).equals(whole)).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  test('has the checksum of the specification', () => {
    const crc = 0xe306_9283;
    const rotated = ((crc >>> 15) | (crc << 17)) >>> 0;
    expect(maskedCrc32c(Buffer.from('123456789'))).toBe((rotated + 0xa282_ead8) % 2 ** 32);
  });

  test.each([
    ['a copy that overlaps its output', '0a00611501', 'a'.repeat(10)],
    ['a copy with an offset of 11 bits', '080c6162636401 04'.replace(' ', ''), 'abcdabcd'],
    ['a copy with an offset of 16 bits', '080c616263640e0400', 'abcdabcd'],
    ['a copy with an offset of 32 bits', '080c616263640f04000000', 'abcdabcd'],
    ['a literal with a length of two bytes', `64f46300${'61'.repeat(100)}`, 'a'.repeat(100)],
  ])('reads %s', (_, block, plain) => {
    expect(decompress(framed(block, Buffer.from(plain)), MAX).toString()).toBe(plain);
  });

  test.each([
    ['a copy from before the start', '080c616263640e0500'],
    ['a copy with offset 0', '080c616263640e0000'],
    ['a literal beyond the block', '0420616263'],
    ['an output that is too short', '090c61626364'],
    ['an output that is too long', '030c61626364'],
    ['a copy that ends inside its offset', '080c616263640e04'],
    ['a length above 64 KiB', '81800400'],
    ['a length without end', 'ffffffff'],
  ])('refuses %s', (_, block) => {
    expect(() => decompress(framed(block, Buffer.from('abcdabcd')), MAX)).toThrow(EraDamage);
  });

  test('refuses a bomb before it decompresses', () => {
    const chunk = framed(`808004${'00'}61${'fe0100'.repeat(1024)}`, Buffer.alloc(65_536, 'a')).subarray(10);
    expect(() => decompress(Buffer.concat([IDENTIFIER, chunk, chunk]), 100_000)).toThrow(
      'more than 100000 bytes when decompressed',
    );
  });

  test('skips padding, refuses reserved chunks, wrong checksums and cuts', () => {
    const plain = Buffer.from('plain');
    const stored = compressFramed(plain);
    const padding = Buffer.from('fe020000aaaa', 'hex');
    expect(decompress(Buffer.concat([IDENTIFIER, padding, stored]), MAX).toString()).toBe('plain');
    expect(() => decompress(Buffer.concat([stored, Buffer.from('02000000', 'hex')]), MAX)).toThrow('type 2');
    const wrong = Buffer.from(stored);
    wrong[wrong.length - 1] = 0;
    expect(() => decompress(wrong, MAX)).toThrow('checksum');
    for (let end = 0; end < stored.length; end++)
      if (end !== IDENTIFIER.length) expect(() => decompress(stored.subarray(0, end), MAX)).toThrow(EraDamage);
    expect(() => decompress(stored.subarray(10), MAX)).toThrow('no identifier');
  });

  test('never throws anything else', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        try {
          decompress(framed(Buffer.from(bytes).toString('hex'), Buffer.alloc(0)), MAX);
        } catch (error) {
          expect(error).toBeInstanceOf(EraDamage);
        }
      }),
    );
  });
});
