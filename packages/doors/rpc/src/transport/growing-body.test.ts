import { expect, it } from 'vitest';
import { GrowingBody } from './growing-body.ts';

it('holds its pieces in order, up to its limit', () => {
  const body = new GrowingBody(8);
  for (const piece of ['[1,', '2', ',3]']) body.push(Buffer.from(piece));
  const whole = body.whole();
  expect(whole.toString('utf8')).toBe('[1,2,3]');
  expect(() => body.push(Buffer.alloc(2))).toThrow(RangeError);
  body.free();
  expect(whole).toHaveLength(0);
});
