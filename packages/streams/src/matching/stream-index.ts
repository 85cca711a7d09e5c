import type { ChainId, Hash } from '@chainstead/core';
import type { WatchNeeds } from '@chainstead/sync';
import type { CompiledStream } from './compile-stream.ts';

/**
 * The streams of a chain, indexed by block contents: rebuilt after each change of the streams, used for every block.
 */
export interface StreamIndex {
  readonly chainId: ChainId;
  readonly byId: ReadonlyMap<string, CompiledStream>;
  /** Streams that watch all addresses, by topic0. */
  readonly everywhere: ReadonlyMap<Hash, readonly CompiledStream[]>;
  /** Streams by contract or event whose logs they match. */
  readonly byContract: ReadonlyMap<string, readonly CompiledStream[]>;
  /** Block parts that any of the streams needs. */
  readonly needs: WatchNeeds;
}

/** Indexes the streams that watch this chain; the caller passes only active ones. */
export function indexStreams(streams: Iterable<CompiledStream>, chainId: ChainId): StreamIndex {
  const byId = new Map<string, CompiledStream>();
  const everywhere = new Map<Hash, CompiledStream[]>();
  const byContract = new Map<string, CompiledStream[]>();
  let transactions = false;
  let internalTransfers = false;
  for (const stream of streams) {
    if (!stream.chainIds.has(chainId)) continue;
    byId.set(stream.id, stream);
    transactions ||= stream.needs.transactions;
    internalTransfers ||= stream.needs.internalTransfers;
    if (!stream.looksAtLogs) continue;
    for (const name of stream.contracts) add(byContract, name, stream);
    if (stream.allAddresses) for (const topic of stream.topics ?? []) add(everywhere, topic, stream);
  }
  return { chainId, byId, everywhere, byContract, needs: { transactions, internalTransfers } };
}

function add<Key>(streams: Map<Key, CompiledStream[]>, key: Key, stream: CompiledStream): void {
  const known = streams.get(key);
  if (known === undefined) streams.set(key, [stream]);
  else known.push(stream);
}
