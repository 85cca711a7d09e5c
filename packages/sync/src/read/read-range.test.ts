import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { openScriptedStage } from '../testing/scripted-stage.ts';
import { createWholeBlockTables, expectedOutcomes, outcomes } from '../testing/whole-block-datasets.ts';
import type { DecodableBlock } from './decodable-block.ts';
import { type BatchDecoder, createBatchDecoder } from './decoded-batch.ts';
import { readRangeProven } from './read-range.ts';

const CHAIN_ID = 965_001;
const RANGE = { from: 1, to: 30 };
let scratch: ScratchDatabase;

beforeAll(async () => {
  scratch = await createScratchDatabase();
  await createWholeBlockTables(scratch.database);
});
afterAll(() => scratch.drop());

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
  const stage = await openScriptedStage(scratch.database, CHAIN_ID + rowsAtOnce, [outcomes], { blocks: RANGE.to });
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
