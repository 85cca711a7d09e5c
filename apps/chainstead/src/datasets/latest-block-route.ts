import { sql } from '@chainstead/db';
import { indexedChain, routesFor, UnavailableError } from '@chainstead/http';
import { z } from '@hono/zod-openapi';

export const latestBlockRoute = routesFor<unknown>().defineRoute({
  path: '/api/v2.2/latestBlockNumber/{chain}',
  operationId: 'getLatestBlockNumber',
  tag: 'Blocks and transactions',
  summary: 'Get the newest indexed block number of a chain',
  description: 'The header X-Chain-Head contains the newest block announced by a node.',
  params: [
    {
      chain: z.string().openapi({
        type: 'string',
        description: 'Chain name, hexadecimal or decimal ID.',
        example: 'eth',
      }),
    },
  ],
  response: {
    description: 'Block number in decimal digits',
    schema: z.string().openapi({ pattern: '^[0-9]+$', example: '18500000' }),
  },
  async answer({ reads, api, chain: requested, c }) {
    const chain = indexedChain(api.chains, requested);
    // The follower writes all datasets of a block together; a backfilled chain has only ranges.
    const [row] = await reads.selectLasting<{ newest: number | null; head: number | null }>(sql`
  SELECT coalesce(chain.checkpoint, (SELECT max(last_block) FROM sync_ranges WHERE chain_id = ${chain.id})) AS newest, chain.head
  FROM (SELECT ${chain.id}::bigint AS chain_id) AS requested LEFT JOIN sync_chains AS chain USING (chain_id)`);
    const newest = row?.newest ?? row?.head ?? null;
    if (newest === null) throw new UnavailableError(`No block of chain ${chain.key} is indexed yet`);
    if (row?.head !== undefined && row.head !== null) c.header('x-chain-head', String(row.head));
    return String(newest);
  },
});
