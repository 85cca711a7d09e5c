import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { UnprovenBlockError } from '../errors.ts';
import { openScriptedStage } from '../testing/scripted-stage.ts';
import { createWholeBlockTables, expectedOutcomes, outcomes } from '../testing/whole-block-datasets.ts';
import { type BatchDecoder, createBatchDecoder } from './decoded-batch.ts';
import type { DecodableBlock } from './executed-transactions.ts';
import { readRangeProven } from './read-range.ts';

const CHAIN_ID = 965_001;
const RANGE = { from: 1, to: 30 };
const scratch = scratchOfFile();

beforeAll(async () => {
  await createWholeBlockTables(scratch.database);
});

/** Wraps a decoder and records its inputs. */
function watched(decoder: BatchDecoder) {
  const given: DecodableBlock[] = [];
  const held: number[] = [];
  const add: BatchDecoder['add'] = (logs, blocks, whole = []) => {
    given.push(...whole);
    for (const { receipts } of whole) held.push(receipts.length);
    decoder.add(logs, blocks, whole);
  };
  return { decoder: { ...decoder, add }, given, held };
}

it.each([1_000_000, 5])('lets go of each block once it is decoded, with %i rows at once', async (rowsAtOnce) => {
  const stage = await openScriptedStage(scratch.database, CHAIN_ID + rowsAtOnce, [outcomes], {
    blocks: RANGE.to,
  });
  onTestFinished(() => stage.close());
  const { decoder, given, held } = watched(createBatchDecoder(stage.chain, [outcomes], rowsAtOnce));
  const reading = {
    ...stage,
    parts: new Set(['transactions'] as const),
    depth: 4,
    signal: AbortSignal.timeout(60_000),
  };
  const { batch, logCount } = await readRangeProven(reading, RANGE, decoder);
  expect(held.reduce((sum, receipts) => sum + receipts, 0)).toBeGreaterThan(RANGE.to);
  expect(given.map(({ block, receipts }) => [block.transactions, block.transactionHashes, receipts])).toEqual(
    Array.from({ length: RANGE.to }, () => [[], [], []]),
  );
  const lines = [...batch.parts].flatMap((part) => part.lines);
  expect(lines).toHaveLength(expectedOutcomes(stage.scripted, RANGE).length);
  expect(logCount).toBeGreaterThan(0);
});

it.each([true, false])('leaves out an unproven block only if it may: %s', async (leavesOut) => {
  const unproven = 7;
  let hash: unknown;
  const stage = await openScriptedStage(scratch.database, CHAIN_ID + (leavesOut ? 1 : 2), [outcomes], {
    blocks: 10,
    async answer(method, params, own) {
      const reply = await own(params);
      const isAsked = method === 'eth_getBlockReceipts' && (params[0] === hash || Number(params[0]) === unproven);
      if (!isAsked || !('result' in reply) || !Array.isArray(reply.result)) return reply;
      return {
        result: reply.result.map((receipt) => ({ ...receipt, status: receipt.status === '0x1' ? '0x0' : '0x1' })),
      };
    },
  });
  onTestFinished(() => stage.close());
  hash = stage.scripted.blockAt(unproven)?.hash;
  const reading = {
    ...stage,
    ...{ leavesOut, depth: 4, signal: AbortSignal.timeout(60_000) },
    parts: new Set(['transactions'] as const),
  };
  const read = readRangeProven(reading, { from: 1, to: 10 }, createBatchDecoder(stage.chain, [outcomes], 1_000));
  if (!leavesOut) return expect(read).rejects.toBeInstanceOf(UnprovenBlockError);
  const { blocks, lacking } = await read;
  expect([...blocks.keys()].toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 8, 9, 10]);
  expect(lacking.get('transactions')).toMatchObject({ block: unproven, isUnsupported: false });
});
