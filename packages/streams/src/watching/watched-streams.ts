import type { Chain } from '@chainstead/chains';
import type { ChainId } from '@chainstead/core';
import type { Database, Transaction } from '@chainstead/db';
import type { WatchNeeds } from '@chainstead/sync';
import { type CompiledStream, compileStream } from '../matching/compile-stream.ts';
import { indexStreams, type StreamIndex } from '../matching/stream-index.ts';
import { loadStreamsAt, visitAddressTailsSince } from '../records/load-streams.ts';
import { holdStreamsVersion } from '../records/streams-version.ts';
import { createAddressFilter, TAIL_BYTES } from './address-filter.ts';
import { readsSpam, type StreamMatcher } from './match-blocks.ts';

/** The streams in memory, one version of the configuration after another, for all chains of a process. */
export interface WatchedStreams {
  /** What the newest version that is loaded needs of a chain's blocks; the first call loads it. */
  needs(chain: Chain): Promise<WatchNeeds>;
  /** The version that applies to the transaction's blocks, which is held until it ends. */
  at(transaction: Transaction, chain: Chain): Promise<StreamMatcher>;
}

interface Loaded {
  readonly version: number;
  readonly streams: readonly CompiledStream[];
  readonly readsSpam: ReadonlySet<string>;
  readonly indexes: Map<ChainId, StreamIndex>;
}

/** Before the first: every address was added by a later one. */
const NO_VERSION = -1;

export function createWatchedStreams(database: Database): WatchedStreams {
  const filter = createAddressFilter();
  let loaded: Loaded | null = null;
  let firstLoad: Promise<Loaded> | null = null;

  /** Two chains may do it at once: adding an address twice changes nothing, and the newer version stays. */
  const load = async (transaction: Transaction): Promise<Loaded> => {
    const known = loaded?.version ?? NO_VERSION;
    const { version, streams } = await loadStreamsAt(transaction);
    await visitAddressTailsSince(transaction, known, TAIL_BYTES, filter.addTails);
    const fresh: Loaded = {
      version,
      streams: streams.map(compileStream),
      readsSpam: new Set(streams.filter(readsSpam).map(({ id }) => id)),
      indexes: new Map(),
    };
    if (loaded === null || loaded.version < version) loaded = fresh;
    return fresh;
  };

  const indexOf = ({ streams, indexes }: Loaded, chain: Chain): StreamIndex => {
    const known = indexes.get(chain.id);
    if (known !== undefined) return known;
    const index = indexStreams(streams, chain.id);
    indexes.set(chain.id, index);
    return index;
  };

  return {
    async needs(chain) {
      if (loaded === null) {
        // Outside of a block's transaction, as many addresses take a while.
        firstLoad ??= database.transaction(load).finally(() => {
          firstLoad = null;
        });
        await firstLoad;
      }
      return loaded === null ? NOTHING : needsOf(indexOf(loaded, chain), chain);
    },
    async at(transaction, chain) {
      const version = await holdStreamsVersion(transaction);
      const current = loaded?.version === version ? loaded : await load(transaction);
      const index = indexOf(current, chain);
      return {
        index,
        needs: needsOf(index, chain),
        readsSpam: [...index.byId.keys()].some((id) => current.readsSpam.has(id)),
        mayWatch: filter.mayHave,
      };
    },
  };
}

const NOTHING: WatchNeeds = { transactions: false, internalTransfers: false };

/** Where a chain has no internal transactions, streams that ask for them on other chains must not stop it. */
function needsOf({ needs }: StreamIndex, chain: Chain): WatchNeeds {
  return { ...needs, internalTransfers: needs.internalTransfers && chain.internalTransactions };
}
