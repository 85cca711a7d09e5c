import { expect, test } from 'vitest';
import { csvText } from './html.ts';

test.each([
  ['plain', 'plain'],
  ['a,b', '"a,b"'],
  ['say "x"', '"say ""x"""'],
  ['two\nlines', '"two\nlines"'],
  ['=1+1', "'=1+1"],
  [' =1+1', "' =1+1"],
  ['+1', "'+1"],
  ['@x', "'@x"],
  ['-x', "'-x"],
  ['\tx', "'\tx"],
  ['-5', '-5'],
  ['-0.25', '-0.25'],
  [7, '7'],
])('%j is written as %j', (value, text) => {
  expect(csvText(['name'], [[value]])).toBe(`name\r\n${text}\r\n`);
});
