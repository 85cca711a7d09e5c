import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { SubjectCoverage } from '@chainstead/pages';
import { type Collection, getCollection } from '../collections/get-collection.ts';
import type { MetadataRequests } from '../collections/metadata-requests.ts';
import type { Requester } from '../collections/request-metadata.ts';
import type { RecordKey } from '../records/nft-record.ts';
import { requestUnreadCollections } from '../wallet-collections/request-unread-collections.ts';
import { readTokens, requestTokens } from './read-requested-tokens.ts';

/** Per request, with those of the worker role. */
const NODE_CALLS_MAX = 60;

/** At most, if the chain has no Multicall3. */
const CALLS = {
  owner: 1,
  amounts: 1,
  erc721Uri: 1,
  otherUri: 2,
  collection: 18,
  history: 3,
};

interface TokensToRead {
  readonly chain: Chain;
  readonly requester: Requester;
  readonly contracts: readonly Address[];
  /** In request order; null without a known owner. */
  readonly held: readonly (RecordKey | null)[];
  readonly coverage: ReadonlyMap<Address, SubjectCoverage>;
}

export async function readWithinBudget(
  { database, requests }: { readonly database: Database; readonly requests: MetadataRequests },
  { chain, requester, contracts, held, coverage }: TokensToRead,
): Promise<void> {
  const collections = new Map<Address, Collection>();
  for (const address of contracts) collections.set(address, await getCollection(database, chain.id, address));
  const typeOf = (address: Address) => collections.get(address)?.contractType ?? null;
  const isWhole = (address: Address): boolean => coverage.get(address)?.isCovered ?? false;
  const unmoved = held.filter((key) => key === null || key.blockNumber === null);
  const unreported = contracts.filter((address) => typeOf(address) === 'ERC1155' && !isWhole(address));
  let left = NODE_CALLS_MAX - CALLS.owner * unmoved.length - CALLS.amounts * unreported.length;
  const take = (calls: number): boolean => {
    if (calls > left) return false;
    left -= calls;
    return true;
  };
  const keys = held.filter((key) => key !== null);
  const readings = await readTokens(database, chain, keys);
  const affordable = keys.filter(({ address }, index) => {
    const isRequested = (readings[index]?.status ?? null) !== null;
    return isRequested || take(typeOf(address) === 'ERC721' ? CALLS.erc721Uri : CALLS.otherUri);
  });
  await requestTokens({ database, requests }, { chain, requester }, affordable);
  const unread = [];
  for (const [address, { isNft, possibleSpam, status }] of collections) {
    if (isNft && (isWhole(address) || take(CALLS.history))) requests.announce(chain, address, requester);
    if (status === null && !possibleSpam && take(CALLS.collection))
      unread.push({ address, isUnread: true, possibleSpam });
  }
  await requestUnreadCollections(database, chain, unread);
}
