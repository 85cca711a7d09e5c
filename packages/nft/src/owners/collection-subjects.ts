import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { type Indexed, type OnDemandBackfill, type SubjectCoverage, syncStateOf } from '@chainstead/data-api';
import type { ApiDependencies } from '@chainstead/http';
import type { SubjectProjections } from '@chainstead/sync';
import { type Collection, getCollection } from '../collections/get-collection.ts';
import type { SendersOf } from '../records/record-pages.ts';
import type { HeldNow } from '../token-state/held-now.ts';
import { nftCollectionOwners } from '../transfers/collection-owners.ts';
import { nftTransfers } from '../transfers/dataset.ts';
import { requestUnreadCollections } from '../wallet-collections/request-unread-collections.ts';

export interface CollectionSubjectsOptions {
  readonly projections: SubjectProjections;
  /** How long a request waits for the count of a collection's holdings. Milliseconds. */
  readonly waitMs: number;
  readonly onDemandBackfill: Pick<OnDemandBackfill, 'requestContract'>;
  /** The senders of minting transactions. Default: unknown. */
  readonly sendersOf?: SendersOf;
  /** Reads holdings that transfers don't show. Default: contracts are not called. */
  readonly heldNow?: HeldNow;
}

/** How complete a response about a collection is. */
export interface CollectionState {
  readonly status: 'SYNCED' | 'SYNCING';
  /** Why it is SYNCING. */
  readonly message: string | null;
  readonly indexed: Indexed;
}

export interface RequestedCollection {
  readonly chain: Chain;
  readonly contract: Address;
  /** The key's id, or `open`. */
  readonly requestedBy: string;
}

/** Access to requested collections. */
export interface CollectionSubjects {
  /** Starts the count of the collection's holdings, waits briefly for it, and returns the contract's collection. */
  open(requested: RequestedCollection): Promise<Collection>;
  /**
   * Returns how complete the data is. If blocks are missing, queues the collection's backfill, and a read of a contract
   * that was never read.
   */
  stateOf(requested: RequestedCollection, collection: Collection, found: SubjectCoverage): Promise<CollectionState>;
}

export function createCollectionSubjects(
  { database, logger, reads }: Pick<ApiDependencies, 'database' | 'logger' | 'reads'>,
  { projections, waitMs, onDemandBackfill }: CollectionSubjectsOptions,
): CollectionSubjects {
  return {
    async open({ chain, contract }) {
      await projections.keep(chain, { dataset: nftTransfers, state: nftCollectionOwners }, contract, waitMs);
      return getCollection(reads, chain.id, contract);
    },
    async stateOf({ chain, contract, requestedBy }, collection, found) {
      const { indexed, isCovered } = found;
      if (isCovered) return { ...syncStateOf(chain, 'collection', found, null), indexed };
      if (collection.isNft) {
        const answer = await onDemandBackfill.requestContract({ database, logger }, chain, contract, requestedBy);
        return { ...syncStateOf(chain, 'collection', found, answer), indexed };
      }
      if (isRefused(collection)) return { status: 'SYNCED', message: null, indexed: { ...indexed, complete: true } };
      const unread = { address: contract, isUnread: collection.status === null, possibleSpam: false };
      await requestUnreadCollections(database, chain, [unread]);
      return { status: 'SYNCING', message: UNKNOWN, indexed };
    },
  };
}

const UNKNOWN = 'Whether this contract is a collection is not known yet: it is being read';

/** Whether it was read and is not an NFT: none of its data is missing. */
function isRefused({ status }: Collection): boolean {
  return status === 'not-nft' || status === 'not-contract';
}
