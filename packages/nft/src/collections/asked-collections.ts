import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { NotFoundError } from '@chainstead/http';
import { type Collection, getCollection } from './get-collection.ts';
import type { MetadataRequests } from './metadata-requests.ts';
import type { Requester } from './request-metadata.ts';

/** Who asks about contracts of a chain. */
export interface AskedOf {
  readonly chain: Chain;
  readonly requester: Requester;
}

/**
 * What is known of contracts. Those that nobody asked for yet are left to a worker, and a request waits a moment for them.
 * @throws TooManyWaitingError
 */
export async function askCollections(
  { database, requests }: { readonly database: Database; readonly requests: MetadataRequests },
  { chain, requester }: AskedOf,
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

/** One of {@link askCollections}. @throws NotFoundError where it is no NFT, or nobody knows it yet. @throws TooManyWaitingError */
export async function askCollection(
  context: Parameters<typeof askCollections>[0],
  asked: AskedOf,
  address: Address,
): Promise<Collection> {
  const collection = (await askCollections(context, asked, [address])).get(address);
  if (collection?.isNft !== true) throw notFound(asked.chain, address, collection?.status ?? null);
  return collection;
}

/** Whether a worker is to read it: never asked for, being read, refused some time ago, or refused before its events were seen. */
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
      return new NotFoundError(`${address} could not be read ${on} yet: it is tried again by itself`, {
        status: 'failed',
      });
    default:
      return new NotFoundError(`${address} is not indexed ${on} yet: indexing has started, ask again in a moment`, {
        status: 'indexing',
      });
  }
}
