import type { BlockRange } from '@chainstead/core';
import { type RpcHandler, type RpcReply, rpcError } from '../json-rpc/json-rpc-reply.ts';
import { refuseRange, refuseResults } from '../json-rpc/log-limits.ts';
import { prunedError } from './block-methods.ts';
import { type JsonObject, logsOf } from './chain-source.ts';
import type { ChainView } from './chain-view.ts';
import { type LogFilter, matchesFilter, parseLogFilter } from './log-filter.ts';
import { shownLogs } from './shown-logs.ts';

/** `eth_getLogs`, by range or by block hash. */
export function logMethods(view: ChainView): ReadonlyMap<string, RpcHandler> {
  return new Map<string, RpcHandler>([['eth_getLogs', ([filter]) => getLogs(view, filter)]]);
}

function getLogs(view: ChainView, param: unknown): RpcReply {
  const filter = parseLogFilter(param);
  if ('error' in filter) return filter;
  if (filter.blockHash !== null) return logsOfBlock(view, filter, filter.blockHash);
  const range = checkRange(view, filter.fromBlock, filter.toBlock);
  if ('error' in range || 'result' in range) return range;
  return logsOfRange(view, filter, range);
}

function logsOfBlock(view: ChainView, filter: LogFilter, hash: string): RpcReply {
  const block = view.blockByHash(hash);
  if (block === undefined) return rpcError(-32000, 'unknown block');
  if (view.isPruned(block.number))
    return view.faults.settings.prunedBelow?.style === 'error' ? prunedError(view, block.number) : { result: [] };
  return {
    result: shownLogs(
      view.faults,
      'logs',
      logsOf(block).filter((log) => matchesFilter(log, filter)),
    ),
  };
}

/**
 * The range in numbers, cut to what the node has; or the answer where it refuses or has nothing. Shared by every node
 * that serves logs, so that all of them refuse alike.
 */
export function checkRange(
  view: Pick<ChainView, 'resolve' | 'head' | 'faults'>,
  fromBlock: unknown,
  toBlock: unknown,
):
  | BlockRange
  | { readonly error: { readonly code: number; readonly message: string } }
  | { readonly result: [] } {
  const { settings } = view.faults;
  const from = view.resolve(fromBlock);
  const to = view.resolve(toBlock);
  if (typeof from !== 'number' || typeof to !== 'number')
    return { error: { code: -32602, message: 'invalid block range params' } };
  if (from > to) return { error: { code: -32602, message: 'invalid block range params' } };
  const byTag = toBlock === undefined || toBlock === 'latest' || toBlock === 'pending';
  if (to > view.head && !byTag && settings.beyondHead === 'error')
    return { error: { code: -32602, message: 'block range extends beyond current head block' } };
  if (settings.logLimit !== null) {
    const refused = refuseRange(settings.logLimit, { from, to });
    if (refused !== null && 'error' in refused) return refused;
  }
  const { prunedBelow } = settings;
  if (prunedBelow !== null && prunedBelow.style === 'error' && from < prunedBelow.block) {
    const message = `pruned history unavailable: requested ${from}, earliest available ${prunedBelow.block}`;
    return { error: { code: 4444, message } };
  }
  const shown = { from: Math.max(from, prunedBelow?.block ?? 0), to: Math.min(to, view.head) };
  return shown.from > shown.to ? { result: [] } : shown;
}

function logsOfRange(view: ChainView, filter: LogFilter, range: BlockRange): RpcReply {
  const limit = view.faults.settings.logLimit;
  const found: JsonObject[] = [];
  for (const block of view.blocksIn(range)) {
    for (const log of logsOf(block)) if (matchesFilter(log, filter)) found.push(log);
    if (limit?.maxResults !== undefined && found.length > limit.maxResults)
      return refuseResults(limit, range, limit.maxResults, block.number - 1);
  }
  return { result: shownLogs(view.faults, 'logs', found) };
}
