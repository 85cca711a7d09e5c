/**
 * What a run of blocks causes, ready to be written: COPY lines by dataset, block rows, token contracts. Pure.
 */
import type { Chain } from '@chainstead/chains';
import type { Hash, Log } from '@chainstead/core';
import { COPY_NULL, copyHex, copyValue } from '@chainstead/db';
import type { Dataset, MentionedContract } from './dataset.ts';
import { joinMentions, type SeenContract } from './known-contracts.ts';

/** What the batch knows of one block. */
export interface BlockFacts {
  readonly number: number;
  readonly hash: Hash;
  readonly parentHash: Hash | null;
  /** Unix seconds. */
  readonly timestamp: number;
}

export interface DatasetLines {
  readonly dataset: Dataset;
  /** Sorted, so that the primary key index is filled with locality. */
  readonly lines: readonly string[];
}

export interface DecodedBatch {
  /** Ascending by number. */
  readonly blockLines: readonly string[];
  readonly datasets: readonly DatasetLines[];
  /** Sorted by address. */
  readonly contracts: readonly SeenContract[];
  readonly logs: number;
}

/** Decodes logs in chain order. `blocks` must hold every block of the logs. */
export function decodeBatch(
  chain: Chain,
  datasets: readonly Dataset[],
  logs: readonly Log[],
  blocks: ReadonlyMap<number, BlockFacts>,
): DecodedBatch {
  const context = { chain, timestampOf: (number: number) => timestampOf(blocks, number) };
  const mentions: MentionedContract[] = [];
  const decoded = datasets.map((dataset) => {
    const rows = dataset.decode(logs, context);
    for (const contract of dataset.contracts?.(rows) ?? []) mentions.push(contract);
    const lines = rows.map((row) => dataset.copyLine(row));
    return { dataset, lines: lines.sort() };
  });
  return {
    blockLines: [...blocks.values()].sort((a, b) => a.number - b.number).map((block) => blockLine(chain, block)),
    datasets: decoded,
    contracts: joinMentions(mentions),
    logs: logs.length,
  };
}

/** Columns of `blocks` in the order of the lines. */
export const BLOCK_COLUMNS = ['chain_id', 'block_number', 'block_hash', 'parent_hash', 'block_timestamp'] as const;

function blockLine(chain: Chain, block: BlockFacts): string {
  const parent = block.parentHash === null ? COPY_NULL : copyHex(block.parentHash);
  return `${chain.id}\t${block.number}\t${copyHex(block.hash)}\t${parent}\t${copyValue(new Date(block.timestamp * 1000))}`;
}

function timestampOf(blocks: ReadonlyMap<number, BlockFacts>, number: number): number {
  const block = blocks.get(number);
  if (block === undefined) throw new RangeError(`Block ${number} has logs in this batch but no header`);
  return block.timestamp;
}
