import { sql } from '@chainstead/db';
import { AbiUnreadableError } from '@chainstead/events/decoding';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { importSignatures, type SignaturesReport } from './import-signatures.ts';
import { signatureTexts } from './signature-texts.ts';

const scratch = scratchOfFile();
beforeEach(() => scratch.database.query(sql`TRUNCATE imported_signatures`).then(() => undefined));

async function* filesOf(...texts: readonly string[]) {
  for (const text of texts) yield { text, isLast: true };
}

const imported = (source: string, ...files: readonly string[]): Promise<SignaturesReport> =>
  importSignatures({ database: scratch.database, source, pieces: filesOf(...files) });

const rows = (): Promise<object[]> =>
  scratch.database.query(
    sql`SELECT encode(selector, 'hex') AS selector, signature, source FROM imported_signatures ORDER BY selector, signature COLLATE "C", source`,
  );

const TRANSFER = { selector: 'a9059cbb', signature: 'transfer(address,uint256)', source: 'list' };

test.each([
  ['a file of 4bytes', 'transfer(address,uint256);many_msg_babbage(bytes1)'],
  [
    'one with names of arguments',
    'transfer(address _to,uint256 _value);many_msg_babbage(bytes1 a);transfer(address to, uint val)',
  ],
  ['a line each', 'transfer(address,uint256)\r\nmany_msg_babbage(bytes1)\r\n'],
  [
    'declarations',
    'function transfer(address to, uint256 amount) external returns (bool);\nfunction many_msg_babbage(bytes1);',
  ],
  [
    'a table',
    'id,text_signature,hex\n1,"transfer(address,uint256)",0xa9059cbb\n2,"many_msg_babbage(bytes1)",0xa9059cbb\n',
  ],
  [
    'a table without quotes',
    'selector,signature\n0xa9059cbb,transfer(address,uint256)\n0xa9059cbb,many_msg_babbage(bytes1)',
  ],
  ['JSON by selector', '{"a9059cbb": "transfer(address,uint256);many_msg_babbage(bytes1)"}'],
  [
    'JSON of a database',
    '{"result":{"function":{"0xa9059cbb":[{"name":"transfer(address,uint256)"},{"name":"many_msg_babbage(bytes1)"}]}}}',
  ],
])('%s is read, selectors computed', async (_format, text) => {
  expect((await imported('list', text)).rows).toBe(2);
  expect(await rows()).toEqual([{ ...TRANSFER, signature: 'many_msg_babbage(bytes1)' }, TRANSFER]);
});

test('of an event the name and types are kept: which arguments are indexed, a log must tell', async () => {
  await imported('list', 'event Transfer(address indexed from, address indexed to, uint256 value)');
  expect(await rows()).toEqual([
    { selector: 'ddf252ad', signature: 'Transfer(address,address,uint256)', source: 'list' },
  ]);
});

test('what can’t be decoded by is left out, and counted', async () => {
  const text = [
    'transfer(address,uint256)',
    'transfer(address to, uint256 amount)',
    'broken(',
    'bad(uint257)',
    'no-name(bool)',
    `a${'b'.repeat(400)}(bool)`,
    `wide(${Array.from({ length: 200 }, () => 'uint256').join(',')})`,
    `very_wide(${Array.from({ length: 2_000 }, () => 'uint256').join(',')})`,
  ].join('\n');
  const report = await imported('list', text);
  expect(report).toEqual({
    rows: 1,
    skipped: [
      { reason: 'no signature whose values can be decoded', count: 4 },
      { reason: 'longer than 1024 characters', count: 1 },
      { reason: 'longer than 4096 characters', count: 1 },
      { reason: 'repeated', count: 1 },
    ],
  });
  expect(await rows()).toEqual([TRANSFER]);
});

test('the same source replaces its own signatures, and no other’s', async () => {
  await imported('list', 'one()\ntwo()');
  await imported('other', 'one()');
  await imported('list', 'two()\nthree()');
  expect((await rows()).map((row) => `${Object(row).source} ${Object(row).signature}`).toSorted()).toEqual([
    'list three()',
    'list two()',
    'other one()',
  ]);
});

test('a list without signatures changes nothing', async () => {
  await imported('list', 'one()');
  const refused = imported('list', 'nothing here\nbroken(');
  await expect(refused).rejects.toThrow(AbiUnreadableError);
  await expect(refused).rejects.toThrow('1: no signature whose values can be decoded');
  expect(await rows()).toHaveLength(1);
});

test('a reading that ends halfway changes nothing', async () => {
  await imported('list', 'one()');
  async function* halfway() {
    yield { text: 'two();', isLast: false };
    throw new Error('the disk is gone');
  }
  await expect(
    importSignatures({ database: scratch.database, source: 'list', pieces: halfway() }),
  ).rejects.toThrow('the disk is gone');
  expect(await rows()).toEqual([expect.objectContaining({ signature: 'one()' })]);
});

test('a hundred thousand signatures are one import', async () => {
  const names = Array.from({ length: 100_000 }, (_, number) => `f${number}(uint256,address)`);
  const third = names.length / 3;
  const report = await imported(
    'list',
    ...[0, 1, 2].map((part) => names.slice(part * third, (part + 1) * third).join(';')),
  );
  expect(report).toEqual({ rows: 100_000, skipped: [] });
});

test('where a list is cut into pieces does not matter', async () => {
  const file = 'one(uint256);two((address,bytes)[]),0x12345678\n"three()","four(bool)"\n';
  const texts = async (pieces: readonly string[]): Promise<string[]> => {
    async function* cut() {
      for (const text of pieces) yield { text, isLast: false };
      yield { text: '', isLast: true };
    }
    return Array.fromAsync(signatureTexts(cut(), () => undefined));
  };
  expect(await texts([file])).toEqual(['one(uint256)', 'two((address,bytes)[])', 'three()', 'four(bool)']);
  const cuts = fc.array(fc.integer({ min: 0, max: file.length }), { maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(cuts, async (places) => {
      const ends = [...places.toSorted((one, other) => one - other), file.length];
      const pieces = ends.map((end, index) => file.slice(ends[index - 1] ?? 0, end));
      expect(await texts(pieces)).toEqual(await texts([file]));
    }),
  );
});

test('a line without an end is dropped as it comes, and what follows is read', async () => {
  const skipped: string[] = [];
  async function* endless() {
    for (let piece = 0; piece < 100; piece++) yield { text: 'a('.repeat(5_000), isLast: false };
    yield { text: ')\none()', isLast: true };
  }
  expect(await Array.fromAsync(signatureTexts(endless(), (reason) => skipped.push(reason)))).toEqual(['one()']);
  expect(skipped).toEqual(['longer than 4096 characters']);
});
