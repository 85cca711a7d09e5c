/** What the API says of a chain's busiest wallets, tokens and collections, over any database. */
import type { Chain, ChainRegistry } from '@chainstead/chains';
import { createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { createDatasetRoutes } from '@chainstead/datasets';
import { type Database, hexText } from '@chainstead/db';
import { createJobs } from '@chainstead/jobs';
import type { ScratchDatabase } from '@chainstead/testkit';
import { createApiUnderTest, TEST_KEY } from './api-under-test.ts';

/** Of wallet and token. */
const WALLET_PATHS = [
  '/{wallet}/erc20/transfers?limit=5',
  '/{wallet}/erc20/transfers?limit=5&order=ASC',
  '/{wallet}/erc20/transfers?from_date=2015-01-01&to_date=2035-01-01',
  '/{wallet}/erc20/transfers?contract_addresses[0]={token}',
  '/{wallet}/erc20',
  '/{wallet}/erc20?token_addresses[0]={token}',
  '/wallets/{wallet}/tokens?exclude_native=true',
  '/wallets/{wallet}/approvals',
  '/{wallet}/nft',
  '/{wallet}/nft?token_addresses[0]={collection}',
  '/{wallet}/nft/collections',
  '/{wallet}/nft/transfers',
  '/wallets/{wallet}/nfts/trades',
  '/erc20/metadata?addresses[0]={token}',
  '/erc20/{token}/transfers?limit=5',
  '/erc20/{token}/stats',
  '/erc20/{token}/owners',
  '/erc20/{token}/holders',
  '/erc20/{token}/holders/historical?fromDate=2015-01-01&toDate=2035-01-01&timeFrame=1m',
] as const;

/** Of collection and id. */
const COLLECTION_PATHS = [
  '/nft/{collection}',
  '/nft/{collection}/metadata',
  '/nft/{collection}/owners',
  '/nft/{collection}/stats',
  '/nft/{collection}/unique-owners',
  '/nft/{collection}/trades?limit=5',
  '/nft/{collection}/trades?marketplace=opensea',
  '/nft/{collection}/transfers',
  '/nft/{collection}/price?days=365',
  '/nft/{collection}/traits',
  '/nft/{collection}/{id}',
  '/nft/{collection}/{id}/owners',
  '/nft/{collection}/{id}/transfers',
  '/nft/{collection}/{id}/trades',
  '/nft/{collection}/{id}/price?days=365',
] as const;

/** What is asked for. */
export interface AskedFor {
  readonly wallet: string;
  readonly token: string;
  readonly collection: string;
  readonly id: string;
}

/** Those with the most transfers and trades, in any order of ties that the addresses give. */
export async function busiest(database: Database, chain: Chain, most: number): Promise<readonly AskedFor[]> {
  const list = async (column: string, table: string, condition: string): Promise<string[]> => {
    const rows = await database.query<{ found: string }>(
      `SELECT ${hexText(column)} AS found FROM (SELECT ${column}, count(*) AS rows FROM ${table} WHERE chain_id = $1 AND ${condition}
         GROUP BY ${column}) AS counted ORDER BY rows DESC, ${column} LIMIT $2`,
      [chain.id, most],
    );
    return rows.map(({ found }) => found);
  };
  const wallets = await list('account', 'erc20_transfers', `account <> decode(repeat('00', 20), 'hex')`);
  const tokens = await list('token', 'erc20_transfers', 'true');
  const sold = await list('token_address', 'nft_trades', 'price > 0');
  const moved = await list('token_address', 'nft_transfers', 'true');
  const collections = [...new Set([...sold, ...moved])];
  const asked: AskedFor[] = [];
  for (let place = 0; place < most; place++) {
    const [wallet, token, collection] = [wallets, tokens, collections].map((all) => all[place % all.length]);
    if (wallet === undefined || token === undefined || collection === undefined) continue;
    const [row] = await database.query<{ id: string }>(
      `SELECT min(token_id)::text AS id FROM nft_transfers WHERE chain_id = $1 AND collection_key = address_key($2) AND token_address = $2`,
      [chain.id, Buffer.from(collection.slice(2), 'hex')],
    );
    asked.push({ wallet, token, collection, id: row?.id ?? '0' });
  }
  return asked;
}

/** The API over a database. */
export interface Pages {
  /** Status and text of an answer. What says when it was read is left out. @param path with a query or without */
  ask(path: string): Promise<string>;
  close(): Promise<void>;
}

export async function openPages(scratch: ScratchDatabase, chains: ChainRegistry, chain: Chain): Promise<Pages> {
  const { database } = scratch;
  const jobs = await createJobs({ databaseUrl: scratch.url, logger: silentLogger(), metrics: createMetricsRegistry() });
  try {
    const routes = createDatasetRoutes({
      database,
      logger: silentLogger(),
      jobs,
      chains: [chain],
      onDemand: { waitMs: 0, maxCalls: 0, perKey: 1_000 },
      clock: systemClock,
    });
    const api = await createApiUnderTest(database, chains, routes);
    return {
      async ask(path) {
        const target = `/api/v2.2${path}${path.includes('?') ? '&' : '?'}chain=${chain.key}`;
        const answer = await api.request(target, { headers: { 'x-api-key': TEST_KEY } });
        return `${answer.status} ${withoutClocks(await answer.text())}`;
      },
      close: () => jobs.close(),
    };
  } catch (error) {
    await jobs.close();
    throw error;
  }
}

/** Status and text of each answer by what was asked. */
export async function answersOf(
  scratch: ScratchDatabase,
  chains: ChainRegistry,
  chain: Chain,
  asked: readonly AskedFor[],
): Promise<Readonly<Record<string, string>>> {
  const pages = await openPages(scratch, chains, chain);
  try {
    const answers: Record<string, string> = {};
    for (const one of asked)
      for (const path of [...WALLET_PATHS, ...COLLECTION_PATHS]) {
        const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: keyof AskedFor) => one[name]);
        answers[filled] = await pages.ask(filled);
      }
    return answers;
  } finally {
    await pages.close();
  }
}

/** An answer without what says when it was read, and without its cursor, which is signed with the database's own secret. */
export function withoutClocks(text: string): string {
  return text
    .replaceAll(/"cursor":"[^"]*"/g, '"cursor":"…"')
    .replaceAll(/"(last_\w+_sync|synced_at|requested_at|minutes_\w+)":(?:"[^"]*"|null)/g, '"$1":"…"');
}
