import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { NotFoundError } from '@chainstead/http';
import { type Collection, getCollection } from './get-collection.ts';
import type { MetadataRequests } from './metadata-requests.ts';
import type { Requester } from './request-metadata.ts';

type RequestedOf = { readonly chain: Chain; readonly requester: Requester };

/** Waits briefly. @throws TooManyWaitingError */
export async function enqueueCollections(
  { database, requests }: { readonly database: Database; readonly requests: MetadataRequests },
  { chain, requester }: RequestedOf,
  addresses: readonly Address[],
): Promise<ReadonlyMap<Address, Collection>> {
  const collections = new Map<Address, Collection>();
  for (const address of addresses) collections.set(address, await getCollection(database, chain.id, address));
  const unread = [...collections].filter(([, { status, isNft, isRefusalOver }]) =>
    status === 'not-nft' || status === 'not-contract'
      ? isRefusalOver || isNft
      : status === null || status === 'pending',
  );
  for (const [address, { status }] of unread)
    if (status !== 'pending') await requests.collection(chain, address, requester);
  const awaited = unread.map(([address]) => ({ chainId: chain.id, address, tokenId: null }));
  await Promise.all(awaited.map((row) => requests.settled(row)));
  for (const [address] of unread) collections.set(address, await getCollection(database, chain.id, address));
  for (const [address, { isNft }] of collections) if (isNft) requests.announce(chain, address, requester);
  return collections;
}

/** @throws NotFoundError if it is no NFT or unread; TooManyWaitingError */
export async function enqueueCollection(
  context: Parameters<typeof enqueueCollections>[0],
  requested: RequestedOf,
  address: Address,
): Promise<Collection> {
  const collection = (await enqueueCollections(context, requested, [address])).get(address);
  if (collection?.isNft !== true) throw notFound(requested.chain, address, collection?.status ?? null);
  return collection;
}

function notFound(chain: Chain, address: Address, status: Collection['status']): NotFoundError {
  const on = `on ${chain.key}`;
  switch (status) {
    case 'not-contract':
      return new NotFoundError(`${address} is not a contract ${on}`, { status });
    case 'not-nft':
      return new NotFoundError(`${address} is not an NFT contract ${on}`, { status });
    case 'failed':
      return new NotFoundError(`${address} could not be read ${on} yet: Chainstead retries automatically`, {
        status,
      });
    default: {
      const message = `${address} is not indexed ${on} yet: indexing has started, retry in a moment`;
      return new NotFoundError(message, { status: 'indexing' });
    }
  }
}
