import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { keccak256Hex } from '@chainstead/core';
import { encodeHeader, encodeReceipt, encodeTransaction, proveBlock, proveTransactions } from '@chainstead/proof';
import { parseBlock, parseReceipt } from '@chainstead/rpc';
import { type JsonObject, recordedData, writeEraFolder } from '@chainstead/testkit';
import { describe, expect, test } from 'vitest';
import { decodeBlock } from './decode-block.ts';
import { decodeEraHeader } from './decode-body.ts';
import { openEraSource } from './open-era-source.ts';
import { emptyFolder, mainnet, PROOFS, readAll } from './testing/era-files.ts';

const OPTIONS = { chain: mainnet, transactions: true, recoverSigners: undefined };

function decodeFolder(number: number) {
  const read = (name: string): Buffer => readFileSync(join(PROOFS.folder, 'blocks', String(number), name));
  const header = read('header.rlp');
  const receipts = { rlp: read('receipts-slim.rlp'), isSlim: true };
  const parts = { header: decodeEraHeader(header, number), headerBytes: header.length, totalDifficulty: null };
  return decodeBlock({ ...parts, body: read('body.rlp'), receipts }, OPTIONS);
}

const NUMBERS = PROOFS.isMissing
  ? []
  : readdirSync(join(PROOFS.folder, 'blocks')).map(Number).filter(Number.isInteger);

describe.skipIf(PROOFS.isMissing)(PROOFS.title('blocks in RLP'), () => {
  test.each(NUMBERS)('block %i has the roots of its header, and encodes to the same bytes', async (number) => {
    const { block, receipts, lacks } = await decodeFolder(number);
    const { header, transactionHashes, transactions } = block;
    expect(lacks).toEqual([]);
    const whole = { header, transactionHashes, receipts };
    expect(proveBlock(whole, mainnet)).toEqual({ level: 'receipts', headerHash: 'verified' });
    expect(proveTransactions({ header, transactions: transactions ?? [], receipts }, mainnet)).toEqual({
      level: 'receipts',
    });
    for (const [index, transaction] of (transactions ?? []).entries())
      expect(keccak256Hex(encodeTransaction(transaction) ?? Buffer.alloc(0))).toBe(transactionHashes[index]);
    expect(encodeHeader(header.raw, header.hash)).not.toBeNull();
    expect(isDeepStrictEqual(parseBlock({ ...header.raw, transactions: transactions ?? [] }), block)).toBe(true);
  });

  test('a Portal row of the same block has the same values', async () => {
    const path = join(PROOFS.folder, 'sources/portal-22869878.constructed.jsonl.gz');
    const row = JSON.parse(gunzipSync(readFileSync(path)).toString('utf8'));
    const { block, receipts } = await decodeFolder(22_869_878);
    expect(block.header.raw).toMatchObject({ size: `0x${row.header.size.toString(16)}`, uncles: [] });
    expect(block.header.raw.withdrawals).toEqual(row.header.withdrawals);
    for (const [index, one] of row.transactions.entries()) {
      const transaction = block.transactions?.[index];
      const receipt = receipts[index]?.raw;
      const { from, to, hash, input, value, gas, gasPrice } = one;
      expect(transaction).toMatchObject({ from, to, hash, input, value, gas, gasPrice });
      const { contractAddress, gasUsed, cumulativeGasUsed, effectiveGasPrice } = one;
      expect(receipt).toMatchObject({ contractAddress, gasUsed, cumulativeGasUsed, effectiveGasPrice });
      if (one.type !== 3) continue;
      const blobGasUsed = `0x${(131_072 * one.blobVersionedHashes.length).toString(16)}`;
      expect(receipt).toMatchObject({ blobGasUsed, blobGasPrice: '0x1' });
    }
  });
});

const EVM = recordedData('data/evm');

interface RecordedAnswers {
  readonly block: JsonObject & { readonly transactions: readonly JsonObject[] };
  readonly receipts: readonly JsonObject[];
}

/** Responses of nodes about mainnet whose members were not converted. */
function recordedAnswers(): readonly RecordedAnswers[] {
  if (EVM.isMissing) return [];
  const read = (path: string) => JSON.parse(readFileSync(join(EVM.folder, path), 'utf8'));
  const index: readonly { readonly folder: string; readonly conv: string }[] = read('index.json');
  return index
    .filter(({ folder, conv }) => folder.startsWith('ethereum/') && /^(as recorded|block decoded)/.test(conv))
    .map(({ folder }) => ({ block: read(`${folder}/block.json`), receipts: read(`${folder}/receipts.json`) }))
    .toSorted((left, right) => Number(left.block.number) - Number(right.block.number));
}

describe.skipIf(EVM.isMissing)(EVM.title('responses of nodes'), () => {
  test.each(['era1', 'ere'] as const)('are equal when they come back from an %s file', async (format) => {
    const answers = recordedAnswers();
    const folder = await emptyFolder();
    const blocks = answers.map(({ block, receipts }) => {
      const { transactions, ...header } = block;
      return { number: Number(block.number), hash: block.hash as `0x${string}`, header, transactions, receipts };
    });
    // Each alone: a file has no holes.
    for (const block of blocks) await writeEraFolder({ folder, network: 'mainnet', format, blocks: [block] });
    const source = openEraSource({ folder, chain: mainnet });
    expect(answers.length).toBeGreaterThan(10);
    for (const { block, receipts } of answers) {
      const number = Number(block.number);
      const [read] = await readAll(source, { from: number, to: number });
      const { transactions, ...header } = block;
      const { size, uncles, ...others } = { ...read?.block.header.raw };
      // Uncles are headers in files, but hashes in responses.
      const isWhole = header.uncles === undefined || (header.uncles as unknown[]).length === 0;
      const { size: _size, uncles: _uncles, ...expected } = header;
      expectMembers(isWhole ? { size, uncles, ...others } : others, isWhole ? header : expected, HEADER_OPTIONAL);
      expect(read?.block.transactions).toHaveLength(transactions.length);
      for (const [index, transaction] of transactions.entries())
        expectMembers(read?.block.transactions?.[index], transaction, ['chainId', 'yParity', 'blockTimestamp']);
      for (const [index, recorded] of receipts.entries()) {
        const receipt = parseReceipt(recorded);
        expectMembers(read?.receipts[index]?.raw, recorded, ['logs', 'type', 'effectiveGasPrice']);
        const logs = receipt.logs.map((log) => ({ ...log, blockTimestamp: read?.block.header.timestamp }));
        const given = { ...read?.receipts[index], raw: null };
        if (!isDeepStrictEqual(given, { ...receipt, logs, raw: null }))
          expect(given).toEqual({ ...receipt, logs });
        expect(encodeReceipt(read?.receipts[index] ?? receipt).equals(encodeReceipt(receipt))).toBe(true);
      }
    }
  });
});

const HEADER_OPTIONAL = ['totalDifficulty'];

/** @param optional left out by some nodes, or unknown to a file */
function expectMembers(given: JsonObject | undefined, expected: JsonObject, optional: readonly string[]): void {
  const names = new Set([...Object.keys(given ?? {}), ...Object.keys(expected)]);
  for (const name of names) {
    const isAbsent = given?.[name] === undefined || expected[name] === undefined;
    if (isAbsent && optional.includes(name)) continue;
    // A matcher for each member takes seconds.
    if (!isDeepStrictEqual(given?.[name], expected[name]))
      expect([name, given?.[name]]).toEqual([name, expected[name]]);
  }
}
