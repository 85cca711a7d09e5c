import type { Chain } from '@chainstead/chains';
import { type Address, systemClock } from '@chainstead/core';
import { addressBytes, type Database, type Sql, sql, where } from '@chainstead/db';
import { defineRoute, type RouteModule, requireIndexes } from '@chainstead/http';
import {
  createMissingIndexes,
  type Indexed,
  indexedSchema,
  readSubject,
  type SubjectColumns,
  showIndexed,
  subjectColumns,
  subjectCoverage,
  subjectHistory,
} from '@chainstead/pages';
import type { OnDemandBackfill } from '@chainstead/pages/on-demand';
import type { SubjectProjections } from '@chainstead/sync/requests';
import { z } from '@hono/zod-openapi';
import { erc20Transfers } from '../dataset.ts';
import { BY_CONTRACT, isOfNfts, ofToken } from '../page/transfer-response.ts';
import { erc20TokenCounts } from '../token-counts.ts';
import { tokenSubject } from '../token-transfers/token-transfers-route.ts';

interface TokenStatsRouteOptions {
  readonly projections: SubjectProjections;
  readonly onDemandBackfill: Pick<OnDemandBackfill, 'requestContract'>;
}

/** docs/api/tokens.md#token-statistics */
export function createTokenStatsRoute({ projections, onDemandBackfill }: TokenStatsRouteOptions): RouteModule {
  return (app, dependencies) => {
    const { database, logger, parameters } = dependencies;
    const missing = createMissingIndexes(database, systemClock, [BY_CONTRACT]);
    defineRoute(app, dependencies, {
      path: '/api/v2.2/erc20/{address}/stats',
      operationId: 'getTokenStats',
      tags: ['Tokens'],
      summary: 'Get the number of transfers of a token',
      description:
        'Exact number of indexed transfers of an ERC-20 token. During the first count of a token with more than 100,000 transfers, `indexed.complete` is false.',
      params: { address: parameters.address.openapi({ description: 'The token contract' }) },
      query: { chain: parameters.chain },
      datasets: [erc20Transfers.name],
      response: { description: 'The number of transfers', schema: tokenStatsSchema },
      async answer({ address: token, chain, requester }) {
        requireIndexes(await missing());
        const { transfers, indexed } = await getTokenStats(database, chain, token, { projections });
        if (!indexed.complete)
          await onDemandBackfill.requestContract({ database, logger }, chain, token, requester);
        return { transfers: { total: String(transfers) }, indexed: showIndexed(indexed) };
      },
    });
  };
}

const tokenStatsSchema = z
  .object({
    transfers: z.object({ total: z.string().openapi({ pattern: '^[0-9]+$', example: '123' }) }),
    indexed: indexedSchema,
  })
  .openapi('Erc20TokenStats');

interface TokenStatsOptions {
  readonly projections: SubjectProjections;
  readonly countMax?: number;
}

/** Counts up to 100,000. Above, a counter is kept: its value is a lower bound until complete. */
export async function getTokenStats(
  database: Database,
  chain: Chain,
  token: Address,
  { projections, countMax = COUNT_MAX }: TokenStatsOptions,
): Promise<{ readonly transfers: number; readonly indexed: Indexed }> {
  const read = async (isCounted: boolean): Promise<StatsColumns> => {
    const [row] = await database.query<StatsColumns>(tokenStatsStatement(chain, token, { countMax, isCounted }));
    if (row === undefined) throw new RangeError('The statement gives one row');
    return row;
  };
  const first = await read(true);
  const show = (row: StatsColumns, transfers: number, isExact: boolean) => {
    const { indexed, isCovered } = readSubject(chain, row, row.createdBlock ?? chain.firstBlock);
    return { transfers: row.isOfNfts ? 0 : transfers, indexed: { ...indexed, complete: isCovered && isExact } };
  };
  if (first.isBuilt) return show(first, first.stored ?? 0, true);
  const counted = first.counted ?? 0;
  if (counted <= countMax || first.isOfNfts) return show(first, counted, true);
  await projections.keep(chain, { dataset: erc20Transfers, state: erc20TokenCounts }, token);
  const row = await read(false);
  return show(row, row.isBuilt ? (row.stored ?? 0) : Math.max(counted, row.stored ?? 0), row.isBuilt);
}

interface StatsColumns extends SubjectColumns {
  readonly counted: number | null;
  readonly stored: number | null;
  readonly createdBlock: number | null;
  readonly isOfNfts: boolean;
}

const COUNT_MAX = 100_000;

/** `counted`: at most one above the maximum; null if the counter is complete. */
export function tokenStatsStatement(
  { id: chainId }: Chain,
  token: Address,
  { countMax, isCounted }: { readonly countMax: number; readonly isCounted: boolean },
): Sql {
  const bytes = sql`${addressBytes(token)}::bytea`;
  const subject = { ...tokenSubject(bytes, chainId), states: [erc20TokenCounts] };
  const rows = sql`SELECT 1 FROM erc20_transfer_sides AS transfer ${where([...ofToken(bytes), sql`chain_id = ${chainId}`])}`;
  const counted = isCounted
    ? sql`CASE WHEN NOT state.is_built THEN (SELECT count(*) FROM (${rows} LIMIT ${countMax + 1}) AS counted) END`
    : sql`NULL::bigint`;
  return sql`WITH ${subjectCoverage(subject)}, state AS MATERIALIZED (
  SELECT ${subjectColumns(subject)} FROM covered LEFT JOIN ${subjectHistory(subject)}
)
SELECT state.*, ${counted} AS counted,
  (SELECT transfers FROM erc20_token_counts WHERE token = ${bytes} AND chain_id = ${chainId}) AS stored,
  (SELECT created_block FROM tokens WHERE address = ${bytes} AND chain_id = ${chainId}) AS created_block,
  ${isOfNfts(bytes, chainId)} AS is_of_nfts
FROM state`;
}
