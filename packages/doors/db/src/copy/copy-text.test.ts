import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../sql.ts';
import { COPY_NULL, copyHex, copyText, copyValue } from './copy-text.ts';

describe('COPY text', () => {
  const scratch = scratchOfFile();

  beforeAll(async () => {
    await scratch.database.query(
      sql`CREATE TABLE texts (position int PRIMARY KEY, content text, bytes bytea, moment timestamptz)`,
    );
  });

  test('any text, any bytes and null come back from a real table as they went in', async () => {
    const anyText = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom('\\', 'N', '.', '\t', '\n', '\r', '\0', 'x') }),
    );
    const row = fc.record({ content: fc.option(anyText), bytes: fc.uint8Array({ maxLength: 40 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 30 }), async (rows) => {
        await scratch.database.query(sql`TRUNCATE texts`);
        const lines = rows.map(({ content, bytes }, position) =>
          [position, copyText(content), copyHex(`0x${Buffer.from(bytes).toString('hex')}`), COPY_NULL].join('\t'),
        );
        const copied = await scratch.database.transaction((transaction) =>
          transaction.copy('texts', ['position', 'content', 'bytes', 'moment'], lines),
        );
        expect(copied).toBe(rows.length);
        const stored = await scratch.database.query(sql`SELECT content, bytes FROM texts ORDER BY position`);
        expect(stored).toEqual(
          rows.map(({ content, bytes }) => ({
            content: content?.replaceAll('\0', '') ?? null,
            bytes: Buffer.from(bytes),
          })),
        );
      }),
      { numRuns: 150 },
    );
  });

  test('unpaired surrogates become the replacement character', () => {
    expect(copyText('a\ud800b')).toBe('a\ufffdb');
  });

  test('values are written in forms that Postgres reads', () => {
    expect(copyHex('0xabc0')).toBe('\\\\xabc0');
    expect(copyValue(null)).toBe('\\N');
    expect(copyValue(2n ** 255n)).toBe((2n ** 255n).toString());
    expect(copyValue(new Date(0))).toBe('1970-01-01T00:00:00.000Z');
    expect(copyValue('a\tb')).toBe('a\\tb');
  });
});
