import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, type Sql, sql, where } from '@chainstead/db';
import {
  addressParameter,
  indexedBlocks,
  inside,
  type RouteModule,
  routesFor,
  view,
  wire,
  withServices,
} from '@chainstead/http';
import {
  type Indexed,
  readSubject,
  type SubjectColumns,
  subjectColumns,
  subjectCoverage,
  subjectHistory,
} from '@chainstead/pages';
import type { SubjectProjections } from '@chainstead/sync/requests';
import type { ContractServices, Erc20Services } from '../../routes.ts';
import { erc20Transfers } from '../dataset.ts';
import { BY_CONTRACT, isOfNfts, ofToken } from '../page/transfer-response.ts';
import { erc20TokenCounts } from '../token-counts.ts';
import { tokenSubject } from '../token-transfers/token-transfers-route.ts';

type Services = ContractServices & Pick<Erc20Services, 'projections'>;
type TokenStats = Awaited<ReturnType<typeof getTokenStats>>;

const tokenStatsView = view('Erc20TokenStats', (stats: TokenStats) => stats, {
  transfers: inside(
    view(null, (transfers: number) => transfers, { total: wire.digits({ example: '123' }, String) }),
  )(),
  indexed: indexedBlocks(),
});

/** docs/api/tokens.md#token-statistics */
const tokenStatsRoute = routesFor<Services>().defineRoute({
  path: '/api/v2.2/erc20/{address}/stats',
  operationId: 'getTokenStats',
  tag: 'Tokens',
  summary: 'Get the number of transfers of a token',
  description:
    'Exact number of indexed transfers of an ERC-20 token. During the first count of a token with more than 100,000 transfers, `indexed.complete` is false.',
  params: [{ address: addressParameter().openapi({ description: 'The token contract' }) }],
  query: ['chain'],
  datasets: [erc20Transfers.name],
  indexes: [BY_CONTRACT],
  response: { description: 'The number of transfers', schema: tokenStatsView.schema },
  async answer({ address: token, chain, requester, services, ...request }) {
    const stats = await getTokenStats(request.database, chain, token, services);
    if (!stats.indexed.complete)
      await services.onDemandBackfill.requestContract(request, chain, token, requester);
    return tokenStatsView.show(stats);
  },
});

export function createTokenStatsRoute(services: Services): RouteModule {
  return withServices(services, [tokenStatsRoute]);
}

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
