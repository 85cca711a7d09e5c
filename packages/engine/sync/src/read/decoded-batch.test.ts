import { createChainRegistry } from '@chainstead/chains';
import type { Log } from '@chainstead/core';
import { hashOf } from '@chainstead/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Dataset } from '../dataset/dataset.ts';
import { type BlockFacts, createBatchDecoder, type DatasetLines, decodeBatch } from './decoded-batch.ts';

const CHAIN = createChainRegistry().get('eth');
const hash = `0x${'22'.repeat(32)}` as Log['blockHash'];

/** A log with as many rows as its index. */
const logOf = (logIndex: number, place: number): Log => ({
  address: `0x${'11'.repeat(20)}` as Log['address'],
  topics: [],
  data: '0x',
  blockNumber: place >> 2,
  blockHash: hash,
  transactionHash: hash,
  transactionIndex: place & 3,
  logIndex,
  blockTimestamp: null,
});

interface Spread {
  readonly dataset: Dataset<string>;
  /** Number of rows created so far. */
  made(): number;
}

function spread(name: string, lazily: boolean): Spread {
  let made = 0;
  function* eachRow(logs: readonly Log[]): Generator<string> {
    for (const { blockNumber, transactionIndex, logIndex } of logs)
      for (let item = 0; item < logIndex; item++) {
        made++;
        yield `${9 - item} ${name} ${blockNumber} ${transactionIndex}`;
      }
  }
  const dataset: Dataset<string> = {
    name,
    topics: () => [],
    table: {
      name,
      columns: [],
      types: new Map(),
      key: [],
      bulkIndexes: [],
      isPartitioned: false,
      rowsPerPartition: 1,
      copyLine: (row) => row,
    },
    decode: (logs) => [...eachRow(logs)],
    contracts: (rows) =>
      rows.length === 0 ? [] : [{ address: `0x${'11'.repeat(20)}` as Log['address'], standard: 'erc721' }],
    ...(lazily ? { eachRow } : {}),
  };
  return { dataset, made: () => made };
}

const counts = fc.array(fc.nat(9), { maxLength: 30 });

function decode(rows: readonly number[], rowsAtOnce: number, lazily = true) {
  const spreads = [spread('one', lazily), spread('two', lazily)];
  const logs = rows.map(logOf);
  const blocks = new Map<number, BlockFacts>(
    logs.map(({ blockNumber: number }) => [number, { number, hash, parentHash: null, timestamp: 0 }]),
  );
  const { parts } = decodeBatch(
    CHAIN,
    spreads.map(({ dataset }) => dataset) as Dataset[],
    logs,
    blocks,
    rowsAtOnce,
  );
  return { parts, made: () => spreads.reduce((sum, { made }) => sum + made(), 0) };
}

const linesOf = (parts: Iterable<DatasetLines>): string[] => [...parts].flatMap(({ lines }) => lines).sort();

test('parts hold all rows, at most so many each, sorted, dataset by dataset, as often as they are asked for', () => {
  fc.assert(
    fc.property(counts, fc.integer({ min: 1, max: 40 }), fc.boolean(), (rows, rowsAtOnce, lazily) => {
      const { parts } = decode(rows, rowsAtOnce, lazily);
      expect(linesOf(parts)).toEqual(linesOf(decode(rows, 1_000).parts));
      expect(linesOf(parts)).toEqual(linesOf(parts));
      const total = rows.reduce((sum, count) => sum + count, 0);
      const names = [...parts].map(({ dataset }) => dataset.name);
      const each = Math.max(1, Math.ceil(total / rowsAtOnce));
      expect(names).toEqual(['one', 'two'].flatMap((name) => Array.from({ length: each }, () => name)));
      for (const { lines, mentions } of parts) {
        expect(lines.length).toBeLessThanOrEqual(rowsAtOnce);
        expect(lines).toEqual(lines.toSorted());
        expect(mentions).toHaveLength(lines.length === 0 ? 0 : 1);
      }
    }),
  );
});

// Invariant: SYNC-PURE-DECODING
test('block by block, in any order, comes to the same as all at once', () => {
  fc.assert(
    fc.property(
      counts,
      fc.integer({ min: 1, max: 40 }),
      fc.boolean(),
      fc.infiniteStream(fc.nat()),
      (rows, rowsAtOnce, lazily, turns) => {
        const datasets = [spread('one', lazily), spread('two', lazily)].map(
          ({ dataset }) => dataset,
        ) as Dataset[];
        const decoder = createBatchDecoder(CHAIN, datasets, rowsAtOnce);
        const byBlock = Map.groupBy(rows.map(logOf), ({ blockNumber }) => blockNumber);
        const shuffled = [...byBlock]
          .map((block) => ({ block, turn: turns.next().value }))
          .sort((a, b) => a.turn - b.turn);
        for (const { block } of shuffled)
          decoder.add(block[1], [{ number: block[0], hash, parentHash: null, timestamp: 0 }]);
        const { parts, blockLines } = decoder.batch();
        expect(linesOf(parts)).toEqual(linesOf(decode(rows, 1_000).parts));
        expect(linesOf(parts)).toEqual(linesOf(parts));
        expect(blockLines).toHaveLength(byBlock.size);
        for (const { lines } of parts) {
          expect(lines.length).toBeLessThanOrEqual(rowsAtOnce);
          expect(lines).toEqual(lines.toSorted());
        }
      },
    ),
  );
});

test('a dataset with topics is given the logs of these alone, in their order', () => {
  const topicOf = (index: number) => hashOf(1, index);
  const logs = [1, 2, 3, 1, 2].map((topic, place) => ({ ...logOf(1, place), topics: [topicOf(topic)] }));
  const given = (topics: readonly Log['topics'][number][]) => {
    const { dataset } = spread('one', false);
    const seen: (readonly Log[])[] = [];
    const watched: Dataset<string> = {
      ...dataset,
      topics: () => topics,
      decode: (own, context) => {
        seen.push(own);
        return dataset.decode(own, context);
      },
    };
    decodeBatch(CHAIN, [watched] as Dataset[], [...logs, { ...logOf(1, 9), topics: [] }], new Map());
    return seen.flat().map(({ topics: [topic] }) => topic ?? null);
  };
  expect(given([topicOf(1), topicOf(3)])).toEqual([1, 3, 1].map(topicOf));
  expect(given([])).toEqual([...[1, 2, 3, 1, 2].map(topicOf), null]);
});

test('entries that fit are decoded once, before they are asked for', () => {
  const { parts, made } = decode([3, 4, 3], 10);
  expect(made()).toBe(20);
  linesOf(parts);
  expect(made()).toBe(20);
});

test('of what does not fit only the next part is made when it is asked for', () => {
  const { parts, made } = decode([9, 9, 9, 9], 10);
  const before = made();
  const turns = parts[Symbol.iterator]();
  for (const expected of [11, 21, 31, 36]) {
    turns.next();
    expect(made() - before).toBe(expected);
  }
  // Each row was created once and dropped: decoding errors are found before anything is written.
  expect(before).toBe(72);
});

test('entries decoded in turn do not need the lists that they came in', () => {
  const { dataset } = spread('a', false);
  const given = [9, 9, 9].map(logOf);
  const decoder = createBatchDecoder(CHAIN, [dataset], 4);
  for (const log of given) {
    const logs = [log];
    decoder.add(logs, [{ number: log.blockNumber, hash, parentHash: null, timestamp: 0 }]);
    logs.length = 0;
  }
  expect(linesOf(decoder.batch().parts)).toHaveLength(27);
});

test('a batch that is let go has no lines any more, whoever still holds it', () => {
  const { dataset } = spread('a', false);
  const decoder = createBatchDecoder(CHAIN, [dataset]);
  decoder.add([logOf(3, 0)], [{ number: 0, hash, parentHash: null, timestamp: 0 }]);
  const batch = decoder.batch();
  const [held] = batch.parts;
  expect([held?.lines.length, held?.mentions.length]).toEqual([3, 1]);
  batch.release();
  expect([held?.lines.length, held?.mentions.length]).toEqual([0, 0]);
  expect([...batch.parts].flatMap(({ lines }) => lines)).toEqual([]);
});

describe('a dataset that throws', () => {
  const BROKEN = 2;
  /** Fails at one block for the first `attempts` attempts. */
  function failing(step: 'decode' | 'copyLine' | 'contracts', attempts: number): Dataset<string> {
    const { dataset } = spread('fails', false);
    let left = attempts;
    const check = (block: number): void => {
      if (block === BROKEN && left-- > 0) throw new TypeError(`No ${step}`);
    };
    const blockOf = (row: string): number => Number(row.split(' ')[2]);
    return {
      ...dataset,
      decode: (logs, context) => {
        if (step === 'decode') for (const { blockNumber } of logs) check(blockNumber);
        return dataset.decode(logs, context);
      },
      table: {
        ...dataset.table,
        copyLine: (row) => {
          if (step === 'copyLine') check(blockOf(row));
          return row;
        },
      },
      contracts: (rows) => {
        if (step === 'contracts') for (const row of rows) check(blockOf(row));
        return [];
      },
    };
  }

  function batchWith(dataset: Dataset<string>, rowsAtOnce?: number) {
    const logs = [0, 1, BROKEN, 3].map((block) => logOf(3, 4 * block));
    const blocks = new Map(
      logs.map(({ blockNumber: number }) => [number, { number, hash, parentHash: null, timestamp: 0 }]),
    );
    const datasets = [dataset, spread('good', false).dataset] as Dataset[];
    const { failures, parts } = decodeBatch(CHAIN, datasets, logs, blocks, rowsAtOnce);
    const linesBy = (name: string) =>
      [...parts].flatMap((part) => (part.dataset.name === name ? part.lines : []));
    return { failures, lines: { fails: linesBy('fails').length, good: linesBy('good').length } };
  }

  test.each(['decode', 'copyLine', 'contracts'] as const)('in %s at one block lacks that block alone', (step) => {
    for (const rowsAtOnce of [1_000, 4]) {
      const { failures, lines } = batchWith(failing(step, Number.POSITIVE_INFINITY), rowsAtOnce);
      expect(failures.map(({ dataset, block, error }) => [dataset.name, block, String(error)])).toEqual([
        ['fails', BROKEN, `TypeError: No ${step}`],
      ]);
      expect(lines).toEqual({ fails: 9, good: 12 });
    }
  });

  test('fewer than three times at the block lacks nothing', () => {
    const inTheBatch = 1;
    expect(batchWith(failing('decode', inTheBatch + 2))).toEqual({
      failures: [],
      lines: { fails: 12, good: 12 },
    });
  });
});
