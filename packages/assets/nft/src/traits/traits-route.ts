import { defineRoute, type RouteModule } from '@chainstead/http';
import { showIndexed } from '@chainstead/pages';
import { nftTransfers } from '../transfers/dataset.ts';
import { createRequestedTraits, NOT_READY, type RequestedTraitsOptions } from './requested-traits.ts';
import { groupTraits, NOT_READY_RESPONSE, traitsSchema } from './traits-response.ts';
import { type StoredTrait, traitListStatement } from './traits-statement.ts';

const TRAITS_MAX = 5_000;

/** docs/api/nfts.md#traits */
export function createTraitsRoute(options: RequestedTraitsOptions): RouteModule {
  return (app, dependencies) => {
    const { parameters } = dependencies;
    const traits = createRequestedTraits(dependencies, options);
    defineRoute(app, dependencies, {
      path: '/api/v2.2/nft/{address}/traits',
      operationId: 'getNFTTraitsByCollection',
      tags: ['NFTs'],
      summary: 'Get traits of an NFT collection',
      description:
        'Traits of a collection by type, with the number of NFTs per value. The first request starts reading the metadata: returns 202 until it is complete. Limited to collections of up to 50,000 NFTs and the 5,000 most frequent traits; the paged route returns all traits.',
      params: { address: parameters.address },
      query: { chain: parameters.chain },
      datasets: [nftTransfers.name],
      response: { description: 'The traits', schema: traitsSchema },
      otherResponses: NOT_READY_RESPONSE,
      errors: [404],
      async answer({ address: contract, chain, requester, c }) {
        const statement = traitListStatement(chain, { contract, limit: TRAITS_MAX, order: 'DESC', after: null });
        const list = await traits.read<StoredTrait>({ chain, contract, requester }, statement);
        if (list === null) return c.json(NOT_READY, 202);
        const isAll = list.rows.length <= TRAITS_MAX;
        const indexed = showIndexed({ ...list.indexed, complete: list.indexed.complete && isAll });
        return { traits: groupTraits(list.rows.slice(0, TRAITS_MAX), list.tokens), indexed };
      },
    });
  };
}
