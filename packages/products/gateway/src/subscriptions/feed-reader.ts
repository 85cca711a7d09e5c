import { errorText, type Hash, type Hex, type Log, type Logger } from '@chainstead/core';
import { type ForwardingPool, parseLogs } from '@chainstead/rpc';
import type { GatewayChain } from '../call.ts';
import { type FeedBlock, FeedLog, toFeedBlock } from './feed-block.ts';

/** A block on the way to the newest one is unavailable: it was abandoned meanwhile, or no upstream responds. */
class BlockMissingError extends Error {
  constructor(hash: Hash) {
    super(`Block ${hash} is not known to any upstream`);
    this.name = 'BlockMissingError';
  }
}

/** @throws BlockMissingError, and the pool's errors */
export function createFeedReader(options: {
  readonly pool: GatewayChain['pool'];
  readonly slug: string;
  readonly logger: Logger;
}) {
  const { pool, slug, logger } = options;

  async function blockAt(at: Hash | number, signal: AbortSignal): Promise<FeedBlock> {
    const answer = await pool.getBlock(at, { signal });
    if (answer === null) throw new BlockMissingError(at as Hash);
    return toFeedBlock(answer.value.header);
  }

  async function headersBetween(from: number, to: number, signal: AbortSignal): Promise<Map<Hash, FeedBlock>> {
    if (from > to) return new Map();
    const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index);
    const answers = await pool.getHeaders(numbers, { signal });
    return new Map(answers.map(({ value }) => [value.hash, toFeedBlock(value)]));
  }

  return {
    blockAt,
    headersBetween,
    /** Oldest first. @throws BlockMissingError if the block itself is missing */
    async branchTo(hash: Hash, ancestors: number, signal: AbortSignal): Promise<readonly FeedBlock[]> {
      const tip = await blockAt(hash, signal);
      const lowest = Math.max(0, tip.number - ancestors);
      const before = await headersBetween(lowest, tip.number - 1, signal).catch((error: unknown) => {
        logger.debug({ chain: slug, error: errorText(error) }, 'Blocks before the newest one not read');
        return new Map<Hash, FeedBlock>();
      });
      const branch = [tip];
      for (let next = before.get(tip.parentHash); next !== undefined; next = before.get(next.parentHash))
        branch.unshift(next);
      return branch;
    },
    async addLogs(block: FeedBlock, signal: AbortSignal): Promise<void> {
      const logs = await readBlockLogs(pool, block, { signal, logger });
      if (logs === null) throw new BlockMissingError(block.hash);
      block.logs = logs.map((log) => new FeedLog(log, block.timestamp));
    },
    /** One call for all, ascending; none for a block with implausible logs. */
    async addLogsOfAll(blocks: readonly FeedBlock[], signal: AbortSignal): Promise<void> {
      const [first, last] = [blocks[0], blocks.at(-1)];
      if (first === undefined || last === undefined) return;
      const { logs } = await pool.getLogs(
        { range: { from: first.number, to: last.number }, topics: [] },
        { signal },
      );
      const byBlock = Map.groupBy(logs, ({ blockHash }) => blockHash);
      for (const block of blocks) {
        const own = byBlock.get(block.hash) ?? [];
        if (block.logs === null && isPlausible(own, block))
          block.logs = own.map((log) => new FeedLog(log, block.timestamp));
      }
    },
  };
}

const METHOD = 'eth_getLogs';
const EMPTY_BLOOM = /^0x0*$/;

interface LoggedBlock {
  readonly number: number;
  readonly hash: Hash;
  readonly logsBloom: Hex | null;
}

/**
 * By eth_getLogs; by receipts if refused, or if the bloom contradicts (nodes that still index).
 * @returns null if no upstream has the block @throws UpstreamsExhaustedError
 */
export async function readBlockLogs(
  pool: Pick<ForwardingPool, 'request' | 'getWholeBlock'>,
  block: LoggedBlock,
  { signal, logger }: { readonly signal: AbortSignal; readonly logger: Logger },
): Promise<readonly Log[] | null> {
  try {
    const { value } = await pool.request(METHOD, [{ blockHash: block.hash }], { minBlock: block.number, signal });
    const logs = parseLogs(value);
    if (isPlausible(logs, block)) return logs;
  } catch (error) {
    if (signal.aborted) throw error;
    logger.debug({ block_number: block.number, error: errorText(error) }, 'Logs of a block not read by its hash');
  }
  const whole = await pool.getWholeBlock(block.hash, { signal });
  return whole === null ? null : whole.value.receipts.flatMap(({ logs }) => logs);
}

/** Whether they may be complete, by bloom and hash. */
function isPlausible(logs: readonly Log[], { hash, logsBloom }: LoggedBlock): boolean {
  if (logs.length === 0) return logsBloom === null || EMPTY_BLOOM.test(logsBloom);
  return logs.every(({ blockHash }) => blockHash === hash);
}
