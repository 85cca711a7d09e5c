import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { NotFoundError } from '@chainstead/http';
import { type Collection, getCollection } from './get-collection.ts';
import type { MetadataRequests } from './metadata-requests.ts';
import type { Requester } from './request-metadata.ts';

/** The requester of a chain's contracts. */
export interface RequestedOf {
  readonly chain: Chain;
  readonly requester: Requester;
}

/**
 * Returns the collections of contracts. Contracts that were never requested are queued for a worker, and the request
 * waits briefly for them.
 * @throws TooManyWaitingError
 */
export async function enqueueCollections(
  { database, requests }: { readonly database: Database; readonly requests: MetadataRequests },
  { chain, requester }: RequestedOf,
  addresses: readonly Address[],
): Promise<ReadonlyMap<Address, Collection>> {
  const found = new Map<Address, Collection>();
  for (const address of addresses) found.set(address, await getCollection(database, chain.id, address));
  const unread = [...found].filter(([, collection]) => isUnread(collection));
  for (const [address, { status }] of unread)
    if (status !== 'pending') await requests.collection(chain, address, requester);
  await Promise.all(unread.map(([address]) => requests.watch.collection(chain.id, address, requests.waitMs)));
  for (const [address] of unread) found.set(address, await getCollection(database, chain.id, address));
  for (const [address, { isNft }] of found) if (isNft) requests.announce(chain, address, requester);
  return found;
}

/**
 * Returns one collection, as {@link enqueueCollections} does.
 * @throws NotFoundError if it is not an NFT or not read yet.
 * @throws TooManyWaitingError
 */
export async function enqueueCollection(
  context: Parameters<typeof enqueueCollections>[0],
  requested: RequestedOf,
  address: Address,
): Promise<Collection> {
  const collection = (await enqueueCollections(context, requested, [address])).get(address);
  if (collection?.isNft !== true) throw notFound(requested.chain, address, collection?.status ?? null);
  return collection;
}

/**
 * Whether a worker should read it: never requested, being read, refused some time ago, or refused before its events
 * were seen.
 */
function isUnread({ status, isNft, isRefusalOver }: Collection): boolean {
  if (status === 'not-nft' || status === 'not-contract') return isRefusalOver || isNft;
  return status === null || status === 'pending';
}

function notFound(chain: Chain, address: Address, status: Collection['status']): NotFoundError {
  const on = `on ${chain.key}`;
  switch (status) {
    case 'not-contract':
      return new NotFoundError(`${address} is not a contract ${on}`, { status: 'not-contract' });
    case 'not-nft':
      return new NotFoundError(`${address} is not an NFT contract ${on}`, { status: 'not-nft' });
    case 'failed':
      return new NotFoundError(`${address} could not be read ${on} yet: Chainstead retries automatically`, {
        status: 'failed',
      });
    default:
      return new NotFoundError(`${address} is not indexed ${on} yet: indexing has started, retry in a moment`, {
        status: 'indexing',
      });
  }
}
