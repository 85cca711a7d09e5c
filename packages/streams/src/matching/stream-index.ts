import type { ChainId, Hash } from '@chainstead/core';
import type { WatchNeeds } from '@chainstead/sync';
import type { CompiledStream } from './compile-stream.ts';

/** The streams of a chain, found by what blocks have: made once for each change of the streams, used for every block. */
export interface StreamIndex {
  readonly chainId: ChainId;
  readonly byId: ReadonlyMap<string, CompiledStream>;
  /** Streams of all addresses by each of their topic0. */
  readonly everywhere: ReadonlyMap<Hash, readonly CompiledStream[]>;
  /** What any of them needs to see of a block. */
  readonly needs: WatchNeeds;
}

/** Those of the streams (active ones, so the caller) that watch this chain. */
export function indexStreams(streams: Iterable<CompiledStream>, chainId: ChainId): StreamIndex {
  const byId = new Map<string, CompiledStream>();
  const everywhere = new Map<Hash, CompiledStream[]>();
  let transactions = false;
  let internalTransfers = false;
  for (const stream of streams) {
    if (!stream.chainIds.has(chainId)) continue;
    byId.set(stream.id, stream);
    transactions ||= stream.needs.transactions;
    internalTransfers ||= stream.needs.internalTransfers;
    if (!stream.allAddresses || !stream.looksAtLogs) continue;
    for (const topic of stream.topics ?? []) {
      const known = everywhere.get(topic);
      if (known === undefined) everywhere.set(topic, [stream]);
      else known.push(stream);
    }
  }
  return { chainId, byId, everywhere, needs: { transactions, internalTransfers } };
}
