import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { ApiDependencies } from '@chainstead/http';
import { type Indexed, type SubjectCoverage, syncStateOf } from '@chainstead/pages';
import type { OnDemandBackfill } from '@chainstead/pages/on-demand';
import type { SubjectProjections } from '@chainstead/sync/requests';
import { type Collection, getCollection } from '../collections/get-collection.ts';
import type { SendersOf } from '../records/record-pages.ts';
import type { HeldNow } from '../token-state/held-now.ts';
import { nftCollectionOwners } from '../transfers/collection-owners.ts';
import { nftTransfers } from '../transfers/dataset.ts';
import { requestUnreadCollections } from '../wallet-collections/request-unread-collections.ts';

export interface CollectionSubjectsOptions {
  readonly projections: SubjectProjections;
  readonly onDemandBackfill: Pick<OnDemandBackfill, 'requestContract'>;
  /** @default unknown */
  readonly sendersOf?: SendersOf;
  /** @default contracts are not called */
  readonly heldNow?: HeldNow;
}

export interface CollectionState {
  readonly status: 'SYNCED' | 'SYNCING';
  readonly message: string | null;
  readonly indexed: Indexed;
}

export interface RequestedCollection {
  readonly chain: Chain;
  readonly contract: Address;
  readonly requestedBy: string;
}

export interface CollectionSubjects {
  /** Counts the collection's holdings and waits briefly for it. */
  open(requested: RequestedCollection): Promise<Collection>;
  /** If blocks are missing, queues the backfill, and a first read of the contract. */
  stateOf(
    requested: RequestedCollection,
    collection: Collection,
    coverage: SubjectCoverage,
  ): Promise<CollectionState>;
}

export function createCollectionSubjects(
  { database, logger, reads }: Pick<ApiDependencies, 'database' | 'logger' | 'reads'>,
  { projections, onDemandBackfill }: CollectionSubjectsOptions,
): CollectionSubjects {
  return {
    async open({ chain, contract }) {
      await projections.keep(chain, { dataset: nftTransfers, state: nftCollectionOwners }, contract);
      return getCollection(reads, chain.id, contract);
    },
    async stateOf({ chain, contract, requestedBy }, collection, coverage) {
      const { indexed, isCovered } = coverage;
      if (isCovered) return { ...syncStateOf(chain, 'collection', coverage, null), indexed };
      if (collection.isNft) {
        const backfill = await onDemandBackfill.requestContract(
          { database, logger },
          chain,
          contract,
          requestedBy,
        );
        return { ...syncStateOf(chain, 'collection', coverage, backfill), indexed };
      }
      if (collection.status === 'not-nft' || collection.status === 'not-contract')
        return { status: 'SYNCED', message: null, indexed: { ...indexed, complete: true } };
      const unread = { address: contract, isUnread: collection.status === null, possibleSpam: false };
      await requestUnreadCollections(database, chain, [unread]);
      return { status: 'SYNCING', message: UNKNOWN, indexed };
    },
  };
}

const UNKNOWN = 'Whether this contract is a collection is not known yet: it is being read';
