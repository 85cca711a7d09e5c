/** Real blocks for this package's tests, read from the shared data next to the repository. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Chain, createChainRegistry } from '@chainstead/chains';
import {
  type BlockHeader,
  type Log,
  parseAddress,
  parseBigQuantity,
  parseHash,
  parseQuantity,
  type Receipt,
} from '@chainstead/core';
import { recordedData } from '@chainstead/testkit';
import type { BlockWithReceipts } from '../blocks/prove-block.ts';

export type Json = Readonly<Record<string, unknown>>;

export const RECORDINGS = recordedData('data/evm');

export interface RecordedBlock {
  readonly folder: string;
  readonly chain: Chain;
  readonly block: BlockWithReceipts & { readonly transactions: readonly Json[] };
  /** Whether `receipts-roots.json` lists its root as recomputable. */
  readonly listed: boolean;
  /**
   * Whether every field is as a node returned it. Some recordings were converted from forms that lack transaction
   * fields.
   */
  readonly faithful: boolean;
}

/** Returns every complete recorded block, and none if the data is missing. */
export function readRecordedBlocks(): readonly RecordedBlock[] {
  if (RECORDINGS.isMissing) return [];
  const roots = readJson('receipts-roots.json') as Record<string, string[]>;
  const ids = readJson('chain-ids.json') as Record<string, number>;
  const index = readJson('index.json') as readonly { readonly folder: string; readonly conv: string }[];
  const faithful = new Set(
    index.filter(({ conv }) => /^(as recorded|block decoded from)/.test(conv)).map(({ folder }) => folder),
  );
  const known = createChainRegistry();
  const additional = Object.entries(ids).flatMap(([key, id]) => (known.find(id) === null ? [{ key, id }] : []));
  const registry = createChainRegistry({ additional });
  const read = (folder: string, listed: boolean): RecordedBlock => ({
    folder,
    chain: registry.get(ids[folder.split('/')[0] ?? ''] ?? folder),
    block: toBlock(
      readJson(`${folder}/block.json`) as BlockJson,
      readJson(`${folder}/receipts.json`) as readonly Json[],
    ),
    listed,
    faithful: faithful.has(folder),
  });
  return [
    ...(roots.receiptsRoot_recomputes ?? []).map((folder) => read(folder, true)),
    ...(roots.receiptsRoot_does_not ?? []).map((folder) => read(folder, false)),
  ];
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(join(RECORDINGS.folder, path), 'utf8'));
}

export type BlockJson = Json & { readonly transactions: readonly Json[] };

/** @param raw response to `eth_getBlockByNumber` with whole transactions */
export function toBlock(
  { transactions, ...header }: BlockJson,
  receipts: readonly Json[],
): RecordedBlock['block'] {
  return {
    header: toHeader(header),
    transactions,
    transactionHashes: transactions.map((transaction) => parseHash(transaction.hash)),
    receipts: receipts.map(toReceipt),
  };
}

function toHeader(raw: Json): BlockHeader {
  return {
    number: parseQuantity(raw.number),
    hash: parseHash(raw.hash),
    parentHash: parseHash(raw.parentHash),
    timestamp: parseQuantity(raw.timestamp),
    logsBloom: raw.logsBloom as BlockHeader['logsBloom'],
    receiptsRoot: parseHash(raw.receiptsRoot),
    raw,
  };
}

function toReceipt(raw: Json): Receipt {
  return {
    transactionHash: parseHash(raw.transactionHash),
    transactionIndex: parseQuantity(raw.transactionIndex),
    type: parseQuantity(raw.type ?? '0x0'),
    cumulativeGasUsed: parseBigQuantity(raw.cumulativeGasUsed),
    logs: (raw.logs as readonly Json[]).map(toLog),
    raw,
  };
}

function toLog(raw: Json): Log {
  return {
    address: parseAddress(raw.address),
    topics: (raw.topics as readonly unknown[]).map(parseHash),
    data: raw.data as Log['data'],
    blockNumber: parseQuantity(raw.blockNumber),
    blockHash: parseHash(raw.blockHash),
    transactionHash: parseHash(raw.transactionHash),
    transactionIndex: parseQuantity(raw.transactionIndex),
    logIndex: parseQuantity(raw.logIndex),
    blockTimestamp: null,
  };
}
