import { proveBlock, proveTransactions } from '@chainstead/proof';
import type { JsonObject } from '@chainstead/testkit';
import { describe, expect, test } from 'vitest';
import type { SourceBlock } from '../block-source.ts';
import { SourceError } from '../source-error.ts';
import { readBlocks } from '../testing/read-all.ts';
import { CHAIN, type SourceKind, scriptedChain, sourceOver } from '../testing/source-stage.ts';

const RANGE = { from: 101, to: 120 };

type Lie = (line: JsonObject) => JsonObject;

/** Names of a Portal; a HyperSync's are made from them. */
const LIES: readonly [string, (name: (camelCase: string) => string) => Lie][] = [
  ['a log is left out', () => (line) => ({ ...line, logs: rows(line, 'logs').slice(1) })],
  [
    'a log is added',
    (name) => (line) =>
      inRows(line, 'logs', (all) => [
        ...all,
        ...all.slice(-1).map((log) => ({ ...log, [name('logIndex')]: 999 })),
      ]),
  ],
  [
    'an amount is changed',
    () => (line) => each(line, 'logs', (log) => ({ ...log, data: `0x${'ff'.repeat(32)}` })),
  ],
  [
    'the status is changed',
    () => (line) => each(line, 'transactions', (row) => ({ ...row, status: 1 - Number(row.status) })),
  ],
  [
    'the gas is changed',
    (name) => (line) => each(line, 'transactions', (row) => ({ ...row, [name('gasUsed')]: '0x1' })),
  ],
  [
    'the price paid is changed',
    (name) => (line) => each(line, 'transactions', (row) => ({ ...row, [name('effectiveGasPrice')]: '0x1' })),
  ],
  ['the value is changed', () => (line) => each(line, 'transactions', (row) => ({ ...row, value: '0x1' }))],
  [
    'the recipient is changed',
    () => (line) => each(line, 'transactions', (row) => ({ ...row, to: `0x${'ab'.repeat(20)}` })),
  ],
  [
    'the hash is changed',
    () => (line) =>
      inRows({ ...line, logs: [] }, 'transactions', (all) =>
        all.map((row) => ({ ...row, hash: `0x${'ab'.repeat(32)}` })),
      ),
  ],
  [
    'the last transaction is left out',
    () => (line) => inRows({ ...line, logs: [] }, 'transactions', (all) => all.slice(0, -1)),
  ],
  ['a fee is null', () => (line) => each(line, 'transactions', (row) => ({ ...row, value: null }))],
  ['the miner is changed', () => (line) => inHeader(line, { miner: `0x${'ab'.repeat(20)}` })],
  ['the time is changed', () => (line) => inHeader(line, { timestamp: 1 })],
  ['a root is null', (name) => (line) => inHeader(line, { [name('receiptsRoot')]: null })],
];

describe.each<SourceKind>(['portal', 'hypersync'])('a lie of a %s', (kind) => {
  test.each(LIES)('is found if %s', async (_, lie) => {
    const name = kind === 'portal' ? (text: string) => text : snakeCase;
    const chain = scriptedChain();
    const bend = lie(name);
    const { source } = await sourceOver(kind, chain, { tamper: bend });
    let read: SourceBlock[];
    try {
      read = await readBlocks(source, RANGE);
    } catch (error) {
      expect(error).toBeInstanceOf(SourceError);
      expect(error).toMatchObject({ facts: { fault: 'wrong' } });
      return;
    }
    expect(read.length).toBe(20);
    for (const block of read) {
      const { number } = block.block.header;
      const isEmpty = chain.blockAt(number)?.transactions.length === 0;
      const isHeader = kindOfLie(bend) === 'header';
      if (isEmpty && !isHeader) continue;
      expect({ number, isTrusted: isTrusted(block) }).toEqual({ number, isTrusted: false });
    }
  });
});

/** As a reader decides, except for senders: signatures of a scripted chain are random. */
function isTrusted({ block, receipts, lacks }: SourceBlock): boolean {
  if (lacks.length > 0) return false;
  const { header } = block;
  const transactions = block.transactions ?? [];
  if (proveBlock({ ...block, receipts }, CHAIN).level !== 'receipts') return false;
  return proveTransactions({ header, transactions, receipts }, CHAIN).level === 'receipts';
}

function kindOfLie(lie: Lie): 'header' | 'rows' {
  const bent = lie({ header: {}, transactions: [], logs: [] });
  return Object.keys(bent.header as object).length > 0 ? 'header' : 'rows';
}

function rows(line: JsonObject, list: string): readonly JsonObject[] {
  return (line[list] ?? []) as readonly JsonObject[];
}

function inRows(line: JsonObject, list: string, change: (all: readonly JsonObject[]) => readonly JsonObject[]) {
  return { ...line, [list]: change(rows(line, list)) };
}

function each(line: JsonObject, list: string, change: (row: JsonObject) => JsonObject): JsonObject {
  return inRows(line, list, (all) => all.map(change));
}

function inHeader(line: JsonObject, change: JsonObject): JsonObject {
  return { ...line, header: { ...(line.header as JsonObject), ...change } };
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
