/** The process holds one very large block at a time. Above the pool's limit, it is left out. */
import type { Hash, Log, Logger } from '@chainstead/core';
import { BlockTooLargeError, type WholeBlockOptions } from '@chainstead/rpc';
import PQueue from 'p-queue';
import type { BlockPart, PartProof } from '../dataset/whole-block.ts';
import type { BlockReader, ProvenBlock } from './proven-block.ts';

export const AHEAD_BYTES_MAX = 8 * 1024 * 1024;

const held = new PQueue({ concurrency: 1 });

/** @returns ends the turn */
export async function holdLargeBlock(signal: AbortSignal): Promise<() => void> {
  const entered = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  const hold = (): Promise<void> => {
    // Else the block would be added to the garbage of others. It takes about 100 ms.
    globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    entered.resolve();
    return left.promise;
  };
  held.add(hold, { signal }).catch(entered.reject);
  await entered.promise;
  return left.resolve;
}

/** First with the limit for several blocks, then in its turn with the pool's (no `bytesMax`). */
export async function readInTurn<T>(
  enter: (() => Promise<void>) | undefined,
  read: (size: Pick<WholeBlockOptions, 'bytesMax' | 'isLarge'>) => Promise<T>,
): Promise<T> {
  if (enter === undefined) return read({});
  try {
    return await read({ bytesMax: AHEAD_BYTES_MAX });
  } catch (error) {
    if (!(error instanceof BlockTooLargeError)) throw error;
    await enter();
    return read({ isLarge: true });
  }
}

export async function withoutContents(
  reader: BlockReader & { readonly parts?: ReadonlySet<BlockPart> | undefined; readonly logger: Logger },
  at: number | Hash,
  error: BlockTooLargeError,
  signal: AbortSignal | undefined,
): Promise<ProvenBlock | null> {
  const { pool, chain, logger, parts = [] } = reader;
  const answer = await pool.getBlock(at, signal === undefined ? {} : { signal });
  if (answer === null) return null;
  const { header } = answer.value;
  logger.error({ chain: chain.key, block: header.number, code: error.code }, error.message);
  const unavailable: PartProof = { level: 'unavailable', reason: error.message, isUnsupported: false };
  const lacking: readonly BlockPart[] = ['logs', ...parts];
  return {
    header,
    block: { header, transactionHashes: [], transactions: [] },
    ...{ receipts: [], logs: [], internalTransfers: [], internalTransactions: [], level: 'none', reason: null },
    parts: Object.fromEntries(lacking.map((part) => [part, unavailable])),
    upstream: answer.upstream,
  };
}

/** Hexadecimal, per extra log. Ordinary logs and inputs have fewer. */
export const CHARACTERS_PER_LOG = 4_096;

/** Plus one for each 4,096 characters of a log's data. */
export function weighLogs(logs: readonly Log[]): number {
  return logs.reduce((sum, { data }) => sum + Math.floor(data.length / CHARACTERS_PER_LOG), logs.length);
}

export function weighBlock({
  logs,
  block: { transactions },
  internalTransactions,
}: Pick<ProvenBlock, 'logs' | 'block' | 'internalTransactions'>): number {
  const inputs = (transactions ?? []).reduce(
    (sum, { input }) => sum + (typeof input === 'string' ? Math.floor(input.length / CHARACTERS_PER_LOG) : 0),
    0,
  );
  return weighLogs(logs) + inputs + (internalTransactions?.length ?? 0);
}
