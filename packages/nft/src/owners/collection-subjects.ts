import { type Indexed, type SubjectCoverage, syncStateOf, type WalletHistory } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { ApiContext, ApiDependencies } from '@chainstead/http';
import type { KeptSubjects } from '@chainstead/sync';
import { type Collection, getCollection } from '../collections/get-collection.ts';
import type { SendersOf } from '../records/record-pages.ts';
import type { HeldNow } from '../token-state/held-now.ts';
import { nftCollectionOwners } from '../transfers/collection-owners.ts';
import { nftTransfers } from '../transfers/dataset.ts';
import { requestUnreadCollections } from '../wallet-collections/request-unread-collections.ts';

export interface CollectionSubjectsOptions {
  readonly kept: KeptSubjects;
  /** How long a request waits until it is counted who holds the collection. Milliseconds. */
  readonly waitMs: number;
  readonly walletHistory: Pick<WalletHistory, 'requestContract'>;
  /** Who sent the transactions that minted. Default: nobody is known. */
  readonly sendersOf?: SendersOf;
  /** Who holds what transfers don't tell. Default: no contract is asked. */
  readonly heldNow?: HeldNow;
}

/** How complete an answer about a collection is. */
export interface CollectionState {
  readonly status: 'SYNCED' | 'SYNCING';
  /** Why it is SYNCING. */
  readonly message: string | null;
  readonly indexed: Indexed;
}

/** A request about one collection. */
export interface AskedCollection {
  readonly chain: Chain;
  readonly contract: Address;
  /** The key's id, or `open`. */
  readonly requestedBy: string;
}

/** Whose request it is, for {@link AskedCollection}. */
export function requesterOf(c: Pick<ApiContext, 'get'>): string {
  return c.get('principal')?.id ?? 'open';
}

/** Collections that are asked about. */
export interface CollectionSubjects {
  /** Has it counted who holds the collection, waits a moment for that, and gives what is known of the contract. */
  open(asked: AskedCollection): Promise<Collection>;
  /** How complete what was found is. Where blocks are missing, has a collection's history read; and a contract of which nobody knows yet whether it is one. */
  stateOf(asked: AskedCollection, collection: Collection, found: SubjectCoverage): Promise<CollectionState>;
}

export function createCollectionSubjects(
  { database, logger, reads }: Pick<ApiDependencies, 'database' | 'logger' | 'reads'>,
  { kept, waitMs, walletHistory }: CollectionSubjectsOptions,
): CollectionSubjects {
  return {
    async open({ chain, contract }) {
      await kept.keep(chain, { dataset: nftTransfers, state: nftCollectionOwners }, contract, waitMs);
      return getCollection(reads, chain.id, contract);
    },
    async stateOf({ chain, contract, requestedBy }, collection, found) {
      const { indexed, isCovered } = found;
      if (isCovered) return { ...syncStateOf(chain, 'collection', found, null), indexed };
      if (collection.isNft) {
        const answer = await walletHistory.requestContract({ database, logger }, chain, contract, requestedBy);
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

/** It was read and is none: nothing of it is missing. */
function isRefused({ status }: Collection): boolean {
  return status === 'not-nft' || status === 'not-contract';
}
