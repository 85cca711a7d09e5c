import { expect, test } from 'vitest';
import { hexBytes, shapedStatement } from './statement.ts';

test.each(['0x00ff', '00ff'])('%s is two bytes', (hex) => {
  expect(hexBytes(hex)).toEqual(Buffer.of(0x00, 0xff));
});

test('a statement of a shape has one text, and the values of each request at their places', () => {
  let made = 0;
  const statement = shapedStatement(
    ({ from }: { readonly from: number | null; readonly limit: number }) => String(from === null),
    ({ from }, bind) => {
      made += 1;
      const limit = bind((given) => given.limit);
      return `SELECT${from === null ? '' : ` ${bind((given) => given.from)}`} LIMIT ${limit}`;
    },
  );
  expect(statement({ from: 5, limit: 10 })).toEqual({ text: 'SELECT $2 LIMIT $1', values: [10, 5] });
  expect(statement({ from: 6, limit: 20 })).toEqual({ text: 'SELECT $2 LIMIT $1', values: [20, 6] });
  expect(statement({ from: null, limit: 30 })).toEqual({ text: 'SELECT LIMIT $1', values: [30] });
  expect(made).toBe(2);
});
