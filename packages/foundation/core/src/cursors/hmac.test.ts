import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createSigner } from './cursor.ts';

it('signs as Node does, with keys of any length', () => {
  const key = fc.uint8Array({ maxLength: 200 });
  fc.assert(
    fc.property(key, fc.uint8Array({ maxLength: 500 }), (secret, bytes) => {
      const expected = createHmac('sha256', secret).update(bytes).digest('hex');
      expect(createSigner(secret)(bytes).toString('hex')).toBe(expected);
    }),
  );
});

it('signs with the key as it was', () => {
  const key = Buffer.alloc(32, 7);
  const sign = createSigner(key);
  const before = sign(Buffer.from('text'));
  key.fill(0);
  expect(sign(Buffer.from('text'))).toEqual(before);
});
