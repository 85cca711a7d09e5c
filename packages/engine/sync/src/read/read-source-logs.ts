/** Logs that a source selects. Level `none`: as with `eth_getLogs`, some may be missing. */
import { type BlockRange, type Log, rangeSize } from '@chainstead/core';
import type { LogsQuery, UpstreamPool } from '@chainstead/rpc';
import type { ChosenSource, LogsPage } from '@chainstead/sources';
import type { BlockFacts } from './decoded-batch.ts';
import { weighLogs } from './large-blocks.ts';
import type { RangeRead } from './read-range.ts';
import { faultOf, ofFile, readParts, requireAtNodes, unitsOf } from './source-stream.ts';

export interface SourceLogs extends RangeRead {
  readonly logs: readonly Log[];
}

const SAMPLE_BYTES_MAX = 32 * 1024 * 1024;
/** Sparse logs are committed at least so often. */
const UNIT_BLOCKS_MAX = 250_000;

/** Ends early where the source does, or fails: the caller reads the rest elsewhere. */
export function readSourceLogs(
  { pool, unitWeight }: { readonly pool: UpstreamPool; readonly unitWeight: number },
  chosen: ChosenSource,
  query: Omit<LogsQuery, 'range'>,
  signal: AbortSignal,
): AsyncGenerator<SourceLogs> {
  const { source } = chosen;
  const sample = async (part: BlockRange, stop: AbortSignal): Promise<boolean> => {
    await pool.getLogs({ ...query, range: part }, { signal: stop, background: true, bytesMax: SAMPLE_BYTES_MAX });
    return true;
  };
  return readParts(chosen, { pool, use: 'logs', sample }, signal, async function* ({ range }, stop) {
    let next = range.from;
    const stream = source.readLogs({ ...query, range }, stop);
    for await (const unit of unitsOf(stream, () => createFullness(unitWeight))) {
      const page = joinPages(chosen, unit, next);
      const blocks = blocksOf(chosen, page);
      await requireSameBranch(pool, chosen, page, signal).catch((error: unknown) => {
        throw ofFile(chosen, error, unit, page.range);
      });
      const level = { range: page.range, proof: 'none', reason: null, upstream: source.name } as const;
      yield { range: page.range, logs: page.logs, blocks, levels: { logs: [level] } };
      next = page.range.to + 1;
    }
  });
}

function createFullness(unitWeight: number): (page: LogsPage) => boolean {
  let weight = 0;
  let blocks = 0;
  return ({ logs, range }) => {
    weight += weighLogs(logs);
    blocks += rangeSize(range);
    return weight >= unitWeight || blocks >= UNIT_BLOCKS_MAX;
  };
}

/** @throws SourceError if the pages do not lie end to end */
function joinPages({ source, range }: ChosenSource, pages: readonly LogsPage[], from: number): LogsPage {
  let next = from;
  for (const { range: part } of pages) {
    if (part.from !== next || part.to > range.to || part.to < next)
      throw faultOf({ source }, `sent logs of ${part.from} to ${part.to} instead of ${next} on`);
    next = part.to + 1;
  }
  return {
    range: { from, to: next - 1 },
    logs: pages.flatMap(({ logs }) => logs),
    last: pages.at(-1)?.last ?? null,
  };
}

/** @throws SourceError if logs lie elsewhere, or contradict each other */
function blocksOf(chosen: ChosenSource, { range, logs }: LogsPage): ReadonlyMap<number, BlockFacts> {
  const blocks = new Map<number, BlockFacts>();
  let previous = range.from;
  for (const { blockNumber: number, blockHash: hash, blockTimestamp: timestamp } of logs) {
    if (number < previous || number > range.to)
      throw faultOf(chosen, `sent a log of block ${number} out of order`);
    if (timestamp === null) throw faultOf(chosen, `named no time of block ${number}`);
    const before = blocks.get(number);
    if (before !== undefined && (before.hash !== hash || before.timestamp !== timestamp))
      throw faultOf(chosen, `named two hashes or times of block ${number}`);
    if (before === undefined) blocks.set(number, { number, hash, parentHash: null, timestamp });
    previous = number;
  }
  return blocks;
}

/** The last block stands for all: a stale replica or another network has another one. */
async function requireSameBranch(
  pool: UpstreamPool,
  chosen: ChosenSource,
  { last, logs }: LogsPage,
  signal: AbortSignal,
): Promise<void> {
  const log = logs.at(-1);
  const named =
    last ?? (log && { number: log.blockNumber, hash: log.blockHash, timestamp: log.blockTimestamp ?? 0 });
  if (named === undefined) return;
  await requireAtNodes(pool, chosen, named, signal);
}
