import type { FaultSettings } from '../json-rpc/faults.ts';
import type { RpcHandler, RpcReply } from '../json-rpc/json-rpc-reply.ts';
import { refuseResults } from '../json-rpc/log-limits.ts';
import type { ChainView } from '../nodes/chain-view.ts';
import { type LogFilter, parseLogFilter } from '../nodes/log-filter.ts';
import { checkRange } from '../nodes/log-methods.ts';
import type { BenchChain } from './bench-chain.ts';

type ReadyAnswers = Readonly<Record<string, (params: readonly unknown[]) => RpcReply | undefined>>;
type Methods = (view: ChainView, own: ReadonlyMap<string, RpcHandler>) => ReadonlyMap<string, RpcHandler>;

/**
 * The calls that indexers make in bulk, answered with text that is ready. Whatever does not fit (other filters, faults
 * that change contents) goes to the methods of every node, which parse and serialise.
 */
export function benchMethods(chain: BenchChain): Methods {
  return (view, own) => {
    const answers: ReadyAnswers = {
      eth_getBlockByNumber: ([at, full]) => block(chain, view, numberOf(view, at), full),
      eth_getBlockByHash: ([hash, full]) => block(chain, view, chain.numberOf(String(hash)), full),
      eth_getBlockReceipts: ([at]) => receipts(chain, view, chain.numberOf(String(at)) ?? numberOf(view, at)),
      eth_getLogs: ([filter]) => logs(chain, view, filter),
    };
    return new Map(
      Object.entries(answers).map(([method, answer]): [string, RpcHandler] => {
        const otherwise = own.get(method);
        return [method, (params) => answer(params) ?? otherwise?.(params) ?? { result: null }];
      }),
    );
  };
}

function showsWhatItHas(settings: FaultSettings): boolean {
  return settings.headLieBlocks === 0 && !settings.nullForHead && settings.prunedBelow === null;
}

function numberOf(view: ChainView, at: unknown): number | undefined {
  return view.resolve(at) ?? undefined;
}

function block(
  chain: BenchChain,
  view: ChainView,
  number: number | undefined,
  full: unknown,
): RpcReply | undefined {
  if (number === undefined || number > view.head || !showsWhatItHas(view.faults.settings)) return undefined;
  const json = chain.textOf(full === true ? 'full' : 'light', number);
  return json === undefined ? undefined : { json };
}

function receipts(chain: BenchChain, view: ChainView, number: number | undefined): RpcReply | undefined {
  const { settings } = view.faults;
  if (settings.noBlockReceipts || settings.dropReceiptLogsRate > 0 || settings.noLogTimestamps) return undefined;
  if (number === undefined || number > view.head || !showsWhatItHas(settings)) return undefined;
  const json = chain.textOf('receipts', number);
  return json === undefined ? undefined : { json };
}

function logs(chain: BenchChain, view: ChainView, param: unknown): RpcReply | undefined {
  const { settings } = view.faults;
  if (settings.dropLogsRate > 0 || settings.noLogTimestamps || !showsWhatItHas(settings)) return undefined;
  const filter = parseLogFilter(param);
  if ('error' in filter || !isForFirstTopic(chain, filter)) return undefined;
  const range =
    filter.blockHash === null
      ? checkRange(view, filter.fromBlock, filter.toBlock)
      : oneBlock(chain, view, filter.blockHash);
  if (range === undefined || 'error' in range || 'result' in range) return range;
  const limit = settings.logLimit;
  const selected = chain.logs.select(filter.topics[0] ?? null, wantedEmitters(chain, filter));
  if (limit?.maxResults !== undefined && selected.count(range) > limit.maxResults)
    return refuseResults(limit, range, limit.maxResults, selected.lastWithin(range.from, limit.maxResults));
  return { json: ['[', ...selected.read(range), ']'] };
}

function oneBlock(
  chain: BenchChain,
  view: ChainView,
  hash: string,
): { readonly from: number; readonly to: number } | undefined {
  const number = chain.numberOf(hash);
  return number === undefined || number > view.head ? undefined : { from: number, to: number };
}

/** Whether topic0 and the emitter decide: no log lacks a topic that the filter wants. */
function isForFirstTopic({ topicsMin }: BenchChain, { topics }: LogFilter): boolean {
  return topics.length <= topicsMin && topics.slice(1).every((wanted) => wanted === null);
}

/** Null: every emitter is wanted, which takes no look at each log. */
function wantedEmitters(chain: BenchChain, { addresses }: LogFilter): ReadonlySet<string> | null {
  return addresses === null || chain.emitters.isSubsetOf(addresses) ? null : addresses;
}
