/** Logs that a source selects. Level `none`: as with `eth_getLogs`, some may be missing. */
import { type Log, rangeSize } from '@chainstead/core';
import type { LogsQuery, UpstreamPool } from '@chainstead/rpc';
import { type ChosenSource, type LogsPage, SourceError } from '@chainstead/sources';
import type { BlockFacts } from './decoded-batch.ts';
import type { RangeRead } from './read-range.ts';
import { watchProgress } from './source-progress.ts';
import { weighLogs } from './weigh.ts';

export interface SourceLogs extends RangeRead {
  readonly logs: readonly Log[];
}

/** Sparse logs are committed at least so often. */
const UNIT_BLOCKS_MAX = 250_000;

/** Ends early where the source does, or fails: the caller reads the rest elsewhere. */
export async function* readSourceLogs(
  { pool, unitWeight }: { readonly pool: UpstreamPool; readonly unitWeight: number },
  chosen: ChosenSource,
  query: Omit<LogsQuery, 'range'>,
  signal: AbortSignal,
): AsyncGenerator<SourceLogs> {
  const { source, range } = chosen;
  const progress = watchProgress(source);
  const stop = AbortSignal.any([signal, progress.stalled]);
  let next = range.from;
  try {
    for await (const page of unitsOf(source.readLogs({ ...query, range }, stop), unitWeight)) {
      if (page.range.from !== next || page.range.to > range.to || page.range.to < next)
        throw faultOf(chosen, `sent logs of ${page.range.from} to ${page.range.to} instead of ${next} on`);
      const blocks = blocksOf(chosen, page);
      await requireSameBranch(pool, chosen, page, stop);
      next = page.range.to + 1;
      progress.made();
      chosen.succeeded(page.range);
      const level = { range: page.range, proof: 'none', reason: null, upstream: source.name } as const;
      yield { range: page.range, logs: page.logs, blocks, levels: { logs: [level] } };
    }
    if (next === range.from) throw faultOf(chosen, 'sent no page', 'unavailable');
    chosen.completed();
  } catch (error) {
    signal.throwIfAborted();
    chosen.failed(stop.aborted ? stop.reason : error, { from: next, to: range.to });
  } finally {
    progress.end();
  }
}

/** The last unit is what the stream brought before its end. */
async function* unitsOf(pages: AsyncIterable<LogsPage>, unitWeight: number): AsyncGenerator<LogsPage> {
  let unit: LogsPage | null = null;
  let failure: { readonly error: unknown } | null = null;
  try {
    for await (const page of pages) {
      const isNext: boolean = unit === null || page.range.from === unit.range.to + 1;
      if (unit !== null && !isNext) yield unit;
      unit =
        unit === null || !isNext
          ? page
          : { ...page, range: { from: unit.range.from, to: page.range.to }, logs: [...unit.logs, ...page.logs] };
      if (weighLogs(unit.logs) < unitWeight && rangeSize(unit.range) < UNIT_BLOCKS_MAX) continue;
      yield unit;
      unit = null;
    }
  } catch (error) {
    failure = { error };
  }
  if (unit !== null) yield unit;
  if (failure !== null) throw failure.error;
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
  const [header] = await pool.getHeaders([named.number], { signal, background: true });
  if (header?.value.hash === named.hash && header.value.timestamp === named.timestamp) return;
  throw faultOf(
    chosen,
    `block ${named.number} is ${named.hash} of ${named.timestamp}, nodes have ${header?.value.hash ?? 'none'} of ${header?.value.timestamp ?? 'none'}`,
  );
}

function faultOf({ source }: ChosenSource, what: string, fault: 'wrong' | 'unavailable' = 'wrong'): SourceError {
  return new SourceError({ source: source.name, fault, what });
}
