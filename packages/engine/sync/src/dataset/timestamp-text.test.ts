import { expect, test } from 'vitest';
import { timestampText } from './row-table.ts';

test('a time is text of whole seconds in UTC', () => {
  expect(timestampText(0)).toBe('1970-01-01T00:00:00Z');
  expect(timestampText(1_655_827_179)).toBe('2022-06-21T15:59:39Z');
});
