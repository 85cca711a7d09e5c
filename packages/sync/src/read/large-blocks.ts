/**
 * Blocks that are too large to hold several of: the process holds one at a time, for all its chains. A block above the
 * pool's limit is left out.
 */
import type { Hash, Logger } from '@chainstead/core';
import { BlockTooLargeError } from '@chainstead/rpc';
import PQueue from 'p-queue';
import type { BlockPart, PartProof } from '../dataset/whole-block.ts';
import type { BlockReader, ProvenBlock } from './proven-block.ts';

/** Largest block that may be read ahead of others, bytes of a response. */
const AHEAD_BYTES_MAX = 8 * 1024 * 1024;

const held = new PQueue({ concurrency: 1 });

/** Waits until this process holds no other large block. @returns ends the hold */
export async function holdLargeBlock(signal: AbortSignal): Promise<() => void> {
  const entered = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  const work = (): Promise<void> => {
    entered.resolve();
    return left.promise;
  };
  held.add(work, { signal }).catch(entered.reject);
  await entered.promise;
  return left.resolve;
}

/**
 * Reads a block, first up to the size that several blocks may have, then without that limit in its turn.
 * @param read reads with a limit of bytes; undefined: the pool's limit
 */
export async function readInTurn<T>(
  enter: (() => Promise<void>) | undefined,
  read: (bytesMax: number | undefined) => Promise<T>,
): Promise<T> {
  if (enter === undefined) return read(undefined);
  try {
    return await read(AHEAD_BYTES_MAX);
  } catch (error) {
    if (!(error instanceof BlockTooLargeError)) throw error;
    await enter();
    return read(undefined);
  }
}

/** Returns a block without its contents: datasets have a gap there, and later blocks continue. */
export async function withoutContents(
  {
    pool,
    chain,
    logger,
    parts = new Set(),
  }: BlockReader & { readonly parts?: ReadonlySet<BlockPart> | undefined; readonly logger: Logger },
  at: number | Hash,
  error: BlockTooLargeError,
  signal: AbortSignal | undefined,
): Promise<ProvenBlock | null> {
  const answer = await pool.getBlock(at, signal === undefined ? {} : { signal });
  if (answer === null) return null;
  const { header } = answer.value;
  logger.error({ chain: chain.key, block: header.number, code: error.code }, error.message);
  const unavailable: PartProof = { level: 'unavailable', reason: error.message, isUnsupported: false };
  const lacking: readonly BlockPart[] = ['logs', ...parts];
  return {
    header,
    block: { header, transactionHashes: [], transactions: [] },
    receipts: [],
    logs: [],
    internalTransfers: [],
    internalTransactions: [],
    level: 'none',
    reason: null,
    parts: Object.fromEntries(lacking.map((part) => [part, unavailable])),
    upstream: answer.upstream,
  };
}
