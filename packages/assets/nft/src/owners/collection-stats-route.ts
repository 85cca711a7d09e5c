import { defineRoute, type RouteModule } from '@chainstead/http';
import { readBuilt, showIndexed } from '@chainstead/pages';
import { nftTransfers } from '../transfers/dataset.ts';
import { readCollectionRows } from './collection-statement.ts';
import { type CollectionStats, collectionStatsStatement } from './collection-stats-statement.ts';
import { type CollectionSubjectsOptions, createCollectionSubjects } from './collection-subjects.ts';
import { collectionStatsSchema } from './owners-response.ts';

/** docs/api/nfts.md#collection-statistics */
export function createCollectionStatsRoute(options: CollectionSubjectsOptions): RouteModule {
  return (app, dependencies) => {
    const { parameters } = dependencies;
    const subjects = createCollectionSubjects(dependencies, options);
    defineRoute(app, dependencies, {
      path: '/api/v2.2/nft/{address}/stats',
      operationId: 'getNFTCollectionStats',
      tags: ['NFTs'],
      summary: 'Get statistics of an NFT collection',
      description: 'Number of held token IDs, owners and transfers of a collection.',
      params: { address: parameters.address },
      query: { chain: parameters.chain },
      datasets: [nftTransfers.name],
      response: { description: 'The collection statistics', schema: collectionStatsSchema },
      async answer({ address: contract, chain, requester }) {
        const requested = { chain, contract, requestedBy: requester };
        const collection = await subjects.open(requested);
        const statement = collectionStatsStatement(chain, contract);
        const stored = await readBuilt(dependencies, (from) =>
          readCollectionRows<CollectionStats>(from, chain, statement),
        );
        const { indexed } = await subjects.stateOf(requested, collection, stored);
        const [counts] = stored.rows;
        return {
          total_tokens: counts?.ids ?? '0',
          owners: { current: counts?.owners ?? '0' },
          transfers: { total: counts?.transfers ?? '0' },
          indexed: showIndexed(indexed),
        };
      },
    });
  };
}
