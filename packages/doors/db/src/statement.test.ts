import { expect, test } from 'vitest';
import { hexBytes } from './sql.ts';

test.each(['0x00ff', '00ff'])('%s is two bytes', (hex) => {
  expect(hexBytes(hex)).toEqual(Buffer.of(0x00, 0xff));
});
