import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseHash, toQuantity } from '@chainstead/core';
import { recordedEvmFolder } from '@chainstead/testkit';
import { describe, expect, test } from 'vitest';
import { callsOfFlatTraces, callsOfFrames } from './call-frames.ts';
import { checkPayers } from './check-calls.ts';

/** A recorded Polygon trace, with the columns of ethereum-etl. */
interface Recorded {
  readonly block_hash: string;
  readonly transaction_hash: string;
  readonly trace_address: readonly number[];
  readonly call_type: string;
  readonly from_address: string;
  readonly to_address: string;
  /** Null for calls without value. */
  readonly value: number | null;
  readonly gas: number;
  readonly gas_used: number;
  readonly input: string;
  readonly output: string;
}

const FOLDER = recordedEvmFolder();

function recordedTraces(folder: string): Recorded[] {
  const text = readFileSync(join(folder, 'expected/etl-rows/polygon/9013765-9013767.traces.jsonl'), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

function flatOf(row: Recorded) {
  return {
    type: 'call',
    action: {
      callType: row.call_type,
      from: row.from_address,
      to: row.to_address,
      value: toQuantity(row.value ?? 0),
      gas: toQuantity(row.gas),
      input: row.input,
    },
    result: { gasUsed: toQuantity(row.gas_used), output: row.output },
    traceAddress: row.trace_address,
    transactionHash: row.transaction_hash,
    blockHash: row.block_hash,
  };
}

function frameOf(row: Recorded, all: readonly Recorded[]): object {
  const depth = row.trace_address.length;
  const calls = all.filter(
    ({ trace_address: place }) =>
      place.length === depth + 1 && row.trace_address.every((index, position) => index === place[position]),
  );
  return {
    type: row.call_type.toUpperCase(),
    from: row.from_address,
    to: row.to_address,
    value: toQuantity(row.value ?? 0),
    gas: toQuantity(row.gas),
    gasUsed: toQuantity(row.gas_used),
    input: row.input,
    output: row.output,
    calls: calls.map((call) => frameOf(call, all)),
  };
}

describe.skipIf(FOLDER === null)('recorded traces', () => {
  test('are the same calls from either form, each paid by whose code ran', () => {
    const byTransaction = Map.groupBy(recordedTraces(FOLDER ?? ''), (row) => row.transaction_hash);
    expect(byTransaction.size).toBeGreaterThan(3);
    for (const [transaction, rows] of byTransaction) {
      const hash = parseHash(transaction);
      const executed = new Set([hash]);
      const [root] = rows;
      if (root === undefined) throw new Error('A transaction without traces');
      const block = { chain: 'polygon', hash: parseHash(root.block_hash), executed };
      const flat = callsOfFlatTraces(rows.map(flatOf), block);
      const framed = callsOfFrames([{ result: frameOf(root, rows) }], { hashes: [hash], executed });
      expect(framed).toEqual(flat);
      expect(flat.map(({ from, to, gasUsed }) => [from, to, gasUsed])).toEqual(
        rows.map((row) => [row.from_address, row.to_address, BigInt(row.gas_used)]),
      );
      expect(() => checkPayers(flat)).not.toThrow();
    }
  });
});
