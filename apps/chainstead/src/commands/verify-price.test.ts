import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCaptured } from '../testing/captured-context.ts';

let folder: string;
const fileOf = (name: string): string => join(folder, name);
const HASH = `0x${'ab'.repeat(32)}`;

beforeAll(async () => {
  // Takes long on a busy machine.
  await import('./verify-price.ts');
  folder = await mkdtemp(join(tmpdir(), 'verify-price-'));
  await writeFile(fileOf('text'), '{"usdPrice":');
  await writeFile(fileOf('price'), '{"usdPrice":1}');
  await writeFile(fileOf('version'), '{"proof":{"format":"chainstead-price-proof","version":9}}');
  await writeFile(fileOf('hashes'), `${HASH}\n\nnone\n`);
  await writeFile(fileOf('deep'), `${'['.repeat(100_000)}${']'.repeat(100_000)}`);
  await writeFile(fileOf('many'), `[${'0,'.repeat(2_000_000)}0]`);
  await writeFile(fileOf('huge'), '');
  await truncate(fileOf('huge'), 128 * 1024 * 1024 + 1);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it.each<readonly [name: string, args: readonly string[], exitCode: number, message: string]>([
  ['a missing file', ['absent'], 2, "can't be read: ENOENT"],
  ['text that is not JSON', ['text'], 2, '/text is not JSON. Use the output of explain-price --proof'],
  ['deep nesting', ['deep'], 1, 'JSON is nested deeper than 64 levels'],
  ['millions of values', ['many'], 1, 'JSON holds more than 2000000 values'],
  ['a huge file', ['huge'], 2, '/huge has 134217729 bytes. A price with its proof has at most 134217728'],
  [
    'a price without a proof',
    ['price'],
    1,
    'The price proof is invalid: the document is not a price response with a proof: request it with proof=true',
  ],
  ['another version', ['version'], 1, 'The price proof is invalid: proof.version is 9, but this program reads 1'],
  [
    'another hash',
    ['price', '--block-hash', '0x12'],
    2,
    '--block-hash: 0x12 is not a block hash. Use 0x and 64 hexadecimal digits',
  ],
  ['another list', ['price', '--trusted-hashes', 'hashes'], 2, '--trusted-hashes: none is not a block hash'],
])('refuses %s', async (_, args, exitCode, message) => {
  const given = args.map((one) => (one.startsWith('-') || one.startsWith('0x') ? one : fileOf(one)));
  const outcome = await runCaptured(['verify-price', ...given]);
  expect([outcome.exitCode, outcome.stdout]).toEqual([exitCode, '']);
  expect(outcome.stderr).toContain(message);
});
