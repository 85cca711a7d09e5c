import { expect, test } from 'vitest';
import { SourceError } from '../source-error.ts';
import type { CreateFault } from './http-stream.ts';
import { readJsonLines } from './json-lines.ts';

const MEBIBYTE = 1024 * 1024;
const fault: CreateFault = (kind, what) => new SourceError({ source: 'lines', fault: kind, what });

async function* chunksOf(...texts: readonly string[]) {
  for (const text of texts) yield Buffer.from(text);
}

test('a line may have as many bytes as the limit, wherever it is cut', async () => {
  const lines = chunksOf('[1', '2]\n\n', '[34]\n[5', '6]');
  expect((await Array.fromAsync(readJsonLines(lines, fault, 4))).map(({ json }) => json)).toEqual([
    [12],
    [34],
    [56],
  ]);
});

test.each([['[1', '23]\n'], ['[123', ']\n'], ['[123]\n'], ['[1', '2', '3', ']']])(
  'a line of one byte more is refused: %j',
  async (...texts) => {
    const lines = readJsonLines(chunksOf('[12]\n', ...texts), fault, 4);
    expect((await lines.next()).value).toEqual({ json: [12], bytes: 4 });
    await expect(lines.next()).rejects.toMatchObject({
      facts: { fault: 'wrong', what: 'a line exceeds 4 bytes' },
    });
  },
);

test('a line without an end is left after 64 MiB', async () => {
  const chunk = Buffer.alloc(MEBIBYTE, 'a');
  let sent = 0;
  async function* endless() {
    for (;;) {
      sent += 1;
      yield chunk;
    }
  }
  await expect(readJsonLines(endless(), fault).next()).rejects.toMatchObject({
    facts: { fault: 'wrong', what: `a line exceeds ${64 * MEBIBYTE} bytes` },
  });
  expect(sent).toBe(65);
});

// Invariant: HTTP-BODY-BOUNDED
test.each([
  ['15 million empty lists', '[],', 15_000_000],
  ['8 million numbers', '1,', 8_000_000],
  ['empty objects', '{},', 2_000_000],
  ['short numbers in lists of one', '[12345],', 3_000_000],
])('a line of %s is refused before it is parsed', async (_what, item, count) => {
  const text = `[${item.repeat(count)}0]\n`;
  const before = process.memoryUsage().heapUsed;
  await expect(readJsonLines(chunksOf(text), fault).next()).rejects.toMatchObject({
    facts: { fault: 'wrong', what: expect.stringMatching(/JSON holds more values than fit \d+ bytes/) },
  });
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(200 * MEBIBYTE);
});

test('of two large lines, the second is joined after the first was taken', async () => {
  const large = `{"data":"${'ab'.repeat(5 * MEBIBYTE)}"}`;
  const [first, second] = [0, 1].map(() => readJsonLines(chunksOf(large, '\n', '[2]\n'), fault));
  const { value } = (await first?.next()) ?? {};
  expect(value).toMatchObject({ bytes: large.length });
  let isSecondRead = false;
  const waiting = second?.next().then(() => {
    isSecondRead = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(isSecondRead).toBe(false);
  await first?.next();
  await waiting;
  expect(isSecondRead).toBe(true);
});
