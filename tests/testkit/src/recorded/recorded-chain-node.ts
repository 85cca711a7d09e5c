import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BlockRange, Hex } from '@chainstead/core';
import type { ChainSource, JsonObject, SourceBlock } from '../nodes/chain-source.ts';
import { type ChainNode, type ServeChainOptions, serveChain } from '../nodes/serve-chain.ts';
import { TestkitError } from '../testkit-error.ts';

export interface RecordedChainOptions {
  /** Folder with `chain-ids.json` and `<chain>/<number>/{block,receipts}.json`. */
  readonly folder: string;
  /** Name of the chain's folder. */
  readonly chain: string;
  /** Only blocks in this range; the highest of them is the head. Default: all. */
  readonly blocks?: BlockRange;
}

/**
 * A recorded chain as a source. Heights that were not recorded are answered as a node answers unknown blocks.
 * @throws TestkitError when there is no such chain or no block in the range.
 */
export async function loadRecordedChain(options: RecordedChainOptions): Promise<ChainSource> {
  const chainId = await readChainId(options);
  const numbers = await recordedNumbers(options);
  const blocks = await Promise.all(
    numbers.map((number) => readBlock(join(options.folder, options.chain, String(number)))),
  );
  return chainOfBlocks(chainId, blocks);
}

/** A chain of blocks, ascending; those between them are unknown. */
export function chainOfBlocks(chainId: number, blocks: readonly SourceBlock[]): ChainSource {
  const byNumber = new Map(blocks.map((block) => [block.number, block]));
  const byHash = new Map(blocks.map((block) => [block.hash as string, block]));
  const byTransaction = new Map(
    blocks.flatMap((block) => block.transactions.map((one) => [String(one.hash), block] as const)),
  );
  return {
    chainId,
    clientVersion: 'chainstead-testkit/recorded-chain',
    firstBlock: blocks[0]?.number ?? 0,
    head: blocks.at(-1)?.number ?? 0,
    finalized: blocks.at(-1)?.number ?? 0,
    blockAt: (number) => byNumber.get(number),
    blocksIn: ({ from, to }) => blocks.filter((block) => block.number >= from && block.number <= to),
    blockByHash: (hash) => byHash.get(hash),
    blockOfTransaction: (hash) => byTransaction.get(hash),
    call: (to) => (isPrecompileOrEven(to) ? { data: '0x' } : { revert: '0x' }),
    code: () => '0x',
  };
}

/** Serves a recorded chain over JSON-RPC. @throws TestkitError as loadRecordedChain does. */
export async function serveRecordedChain(options: RecordedChainOptions & ServeChainOptions): Promise<ChainNode> {
  return serveChain(await loadRecordedChain(options), options);
}

/** State was not recorded: half of the contracts revert and half answer nothing, so that both are met. */
function isPrecompileOrEven(address: string): boolean {
  return Number.parseInt(address.slice(-1), 16) % 2 === 0;
}

async function readChainId(options: RecordedChainOptions): Promise<number> {
  const ids: Record<string, unknown> = JSON.parse(await readFile(join(options.folder, 'chain-ids.json'), 'utf8'));
  const id = ids[options.chain];
  if (typeof id !== 'number')
    throw new TestkitError(`chain-ids.json in ${options.folder} has no chain ${options.chain}`, {
      known: Object.keys(ids),
    });
  return id;
}

async function recordedNumbers(options: RecordedChainOptions): Promise<number[]> {
  const entries = await readdir(join(options.folder, options.chain));
  const numbers = entries.filter((entry) => /^\d+$/.test(entry)).map(Number);
  const { from, to } = options.blocks ?? { from: 0, to: Number.MAX_SAFE_INTEGER };
  const chosen = numbers.filter((number) => number >= from && number <= to).toSorted((a, b) => a - b);
  if (chosen.length === 0)
    throw new TestkitError(`No block of ${options.chain} is recorded in ${from}..${to}`, { numbers });
  return chosen;
}

async function readBlock(folder: string): Promise<SourceBlock> {
  const block: JsonObject = JSON.parse(await readFile(join(folder, 'block.json'), 'utf8'));
  const receipts: readonly JsonObject[] = JSON.parse(await readFile(join(folder, 'receipts.json'), 'utf8'));
  const { transactions, ...header } = block;
  return {
    number: Number(block.number),
    hash: block.hash as Hex,
    header,
    transactions: transactions as readonly JsonObject[],
    receipts,
  };
}
