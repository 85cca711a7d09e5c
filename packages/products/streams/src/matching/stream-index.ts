import { type ChainId, getOrCompute, type Hash } from '@chainstead/core';
import type { WatchNeeds } from '@chainstead/sync';
import type { CompiledStream } from './compile-stream.ts';

export interface StreamIndex {
  readonly chainId: ChainId;
  readonly byId: ReadonlyMap<string, CompiledStream>;
  readonly everywhere: ReadonlyMap<Hash, readonly CompiledStream[]>;
  readonly byContract: ReadonlyMap<string, readonly CompiledStream[]>;
  readonly readsSpam: boolean;
  readonly needs: WatchNeeds;
}

export function indexStreams(streams: Iterable<CompiledStream>, chainId: ChainId): StreamIndex {
  const own = [...streams].filter(({ chainIds }) => chainIds.has(chainId));
  const looking = own.filter(({ looksAtLogs }) => looksAtLogs);
  return {
    chainId,
    byId: new Map(own.map((stream) => [stream.id, stream])),
    everywhere: streamsBy(looking, ({ allAddresses, topics }) => (allAddresses ? (topics ?? []) : [])),
    byContract: streamsBy(looking, ({ contracts }) => contracts),
    readsSpam: own.some(({ readsSpam }) => readsSpam),
    needs: {
      transactions: own.some(({ needs }) => needs.transactions),
      internalTransfers: own.some(({ needs }) => needs.internalTransfers),
    },
  };
}

function streamsBy<Key>(
  streams: readonly CompiledStream[],
  keysOf: (stream: CompiledStream) => Iterable<Key>,
): ReadonlyMap<Key, readonly CompiledStream[]> {
  const byKey = new Map<Key, CompiledStream[]>();
  for (const stream of streams) for (const key of keysOf(stream)) getOrCompute(byKey, key, () => []).push(stream);
  return byKey;
}

export function withoutStreams(
  { byId, chainId }: StreamIndex,
  without: ReadonlySet<CompiledStream>,
): StreamIndex {
  return indexStreams(
    [...byId.values()].filter((stream) => !without.has(stream)),
    chainId,
  );
}
