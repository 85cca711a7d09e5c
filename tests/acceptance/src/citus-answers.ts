/** What the API says of a chain's busiest wallets, tokens and collections, over any database. */
import type { Chain, ChainRegistry } from '@chainstead/chains';
import { silentLogger, systemClock } from '@chainstead/core';
import { type Database, hexBytes, hexText, type Sql, sql } from '@chainstead/db';
import type { ScratchDatabase } from '@chainstead/testkit';
import { createDatasetRoutes } from 'chainstead/src/datasets/index.ts';
import { createApiUnderTest, TEST_KEY } from 'chainstead/src/testing/api-under-test.ts';

/** Paths about a wallet and a token. */
const WALLET_PATHS = [
  '/{wallet}/erc20/transfers?limit=5',
  '/{wallet}/erc20/transfers?limit=5&order=ASC',
  '/{wallet}/erc20/transfers?from_date=2015-01-01&to_date=2035-01-01',
  '/{wallet}/erc20/transfers?contract_addresses[0]={token}',
  '/{wallet}/erc20',
  '/{wallet}/erc20?token_addresses[0]={token}',
  '/{wallet}/erc20?proof=true',
  '/{wallet}/balance',
  '/wallets/balances?wallet_addresses[0]={wallet}',
  '/wallets/{wallet}/tokens?exclude_native=true',
  '/wallets/{wallet}/tokens?exclude_native=true&limit=2',
  '/wallets/{wallet}/approvals',
  '/wallets/{wallet}/stats',
  '/wallets/{wallet}/approvals?limit=1',
  '/{wallet}/nft',
  '/{wallet}/nft?token_addresses[0]={collection}',
  '/{wallet}/nft?limit=2&normalizeMetadata=true',
  '/{wallet}/nft/collections',
  '/{wallet}/nft/collections?limit=1&token_counts=true',
  '/{wallet}/nft/transfers',
  '/{wallet}/nft/transfers?limit=2&order=ASC',
  '/{wallet}/nft/transfers?contract_addresses[0]={collection}',
  '/wallets/{wallet}/nfts/trades',
  '/wallets/{wallet}/nfts/trades?limit=1',
  '/erc20/metadata?addresses[0]={token}',
  '/erc20/metadata/symbols?symbols[0]=USDC',
  '/erc20/{token}/transfers?limit=5',
  '/erc20/{token}/transfers?limit=5&order=ASC&from_block=1',
  '/erc20/{token}/stats',
  '/erc20/{token}/owners',
  '/erc20/{token}/owners?limit=2&order=ASC',
  '/erc20/{token}/holders',
  '/erc20/{token}/holders/historical?fromDate=2015-01-01&toDate=2035-01-01&timeFrame=1m',
] as const;

/** Paths about a collection and an ID. */
const COLLECTION_PATHS = [
  '/nft/{collection}',
  '/nft/{collection}/metadata',
  '/nft/{collection}?limit=2',
  '/nft/{collection}/owners',
  '/nft/{collection}/owners?limit=2',
  '/nft/{collection}/stats',
  '/nft/{collection}/unique-owners',
  '/nft/{collection}/trades?limit=5',
  '/nft/{collection}/trades?marketplace=opensea',
  '/nft/{collection}/transfers',
  '/nft/{collection}/transfers?limit=2&order=ASC',
  '/nft/{collection}/price?days=365',
  '/nft/{collection}/floor-price',
  '/nft/{collection}/floor-price/historical?interval=1d',
  '/nft/{collection}/traits',
  '/nft/{collection}/traits/paginate',
  '/nft/{collection}/{id}',
  '/nft/{collection}/{id}/floor-price',
  '/nft/{collection}/{id}/owners',
  '/nft/{collection}/{id}/owners?limit=1',
  '/nft/{collection}/{id}/transfers',
  '/nft/{collection}/{id}/transfers?limit=1',
  '/nft/{collection}/{id}/trades',
  '/nft/{collection}/{id}/price?days=365',
] as const;

/** What is sent is JSON. */
const SENT = [
  ['/nft/metadata', '{"addresses":["{collection}"]}'],
  ['/nft/getMultipleNFTs', '{"tokens":[{"token_address":"{collection}","token_id":"{id}"}]}'],
  ['/nft/{collection}/nfts-by-traits', '{"traits":[{"trait_type":"Fur","value":"Gold"}]}'],
] as const;

/** Requested pages of a list, each by the cursor of the one before. */
const PAGES = 3;

/** The requests. */
export interface RequestedFor {
  readonly wallet: string;
  readonly token: string;
  readonly collection: string;
  readonly id: string;
}

/** Those with the most transfers and trades, in any order of ties that the addresses give. */
export async function busiest(database: Database, chain: Chain, most: number): Promise<readonly RequestedFor[]> {
  const list = async (column: Sql, table: Sql, condition: Sql): Promise<string[]> => {
    const rows = await database.query<{ found: string }>(
      sql`SELECT ${hexText(column)} AS found FROM (SELECT ${column}, count(*) AS rows FROM ${table} WHERE chain_id = ${chain.id} AND ${condition}
         GROUP BY ${column}) AS counted ORDER BY rows DESC, ${column} LIMIT ${most}`,
    );
    return rows.map(({ found }) => found);
  };
  const wallets = await list(
    sql`account`,
    sql`erc20_transfer_sides`,
    sql`account <> decode(repeat('00', 20), 'hex')`,
  );
  const tokens = await list(sql`token`, sql`erc20_transfer_sides`, sql`true`);
  const sold = await list(sql`token_address`, sql`nft_trades`, sql`price > 0`);
  const moved = await list(sql`token_address`, sql`nft_transfers`, sql`true`);
  const collections = [...new Set([...sold, ...moved])];
  const requested: RequestedFor[] = [];
  for (let place = 0; place < most; place++) {
    const [wallet, token, collection] = [wallets, tokens, collections].map((all) => all[place % all.length]);
    if (wallet === undefined || token === undefined || collection === undefined) continue;
    const address = sql`${hexBytes(collection)}::bytea`;
    const [row] = await database.query<{ id: string }>(
      sql`SELECT min(token_id)::text AS id FROM nft_transfers WHERE chain_id = ${chain.id} AND collection_key = address_key(${address}) AND token_address = ${address}`,
    );
    requested.push({ wallet, token, collection, id: row?.id ?? '0' });
  }
  return requested;
}

/** The API over a database. */
export interface Pages {
  /** Status and text of an answer. What says when it was read is left out. @param path with a query or without */
  ask(path: string): Promise<string>;
  /** As above, of the first pages of a list. @param sent the body of a POST */
  queryOn(path: string, sent?: string): Promise<readonly string[]>;
}

export async function openPages(scratch: ScratchDatabase, chains: ChainRegistry, chain: Chain): Promise<Pages> {
  const { database } = scratch;
  const routes = createDatasetRoutes({
    database,
    logger: silentLogger(),
    chains: [chain],
    onDemand: { waitMs: 0, maxCalls: 0, perKey: 1_000 },
    clock: systemClock,
  });
  const api = await createApiUnderTest(database, chains, routes);
  const answerTo = async (path: string, sent?: string) => {
    const target = `/api/v2.2${path}${path.includes('?') ? '&' : '?'}chain=${chain.key}`;
    const headers = { 'x-api-key': TEST_KEY };
    const answer = await api.request(
      target,
      sent === undefined
        ? { headers }
        : { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: sent },
    );
    const text = await answer.text();
    return {
      shown: `${answer.status} ${withoutClocks(text)}`,
      cursor: /"cursor":"([^"]+)"/.exec(text)?.[1] ?? null,
    };
  };
  return {
    ask: async (path) => (await answerTo(path)).shown,
    async queryOn(path, sent) {
      const first = await answerTo(path, sent);
      const shown = [first.shown];
      for (let { cursor } = first; cursor !== null && shown.length < PAGES; ) {
        const next = await answerTo(
          `${path}${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`,
          sent,
        );
        shown.push(next.shown);
        ({ cursor } = next);
      }
      return shown;
    },
  };
}

/** Status and text of each response by request, with the pages that follow. */
export async function answersOf(
  scratch: ScratchDatabase,
  chains: ChainRegistry,
  chain: Chain,
  requested: readonly RequestedFor[],
): Promise<Readonly<Record<string, readonly string[]>>> {
  const pages = await openPages(scratch, chains, chain);
  const answers: Record<string, readonly string[]> = {};
  for (const one of requested) {
    const fill = (text: string): string =>
      text.replaceAll(/\{(\w+)\}/g, (_, name: keyof RequestedFor) => one[name]);
    for (const path of [...WALLET_PATHS, ...COLLECTION_PATHS])
      answers[fill(path)] = await pages.queryOn(fill(path));
    for (const [path, sent] of SENT)
      answers[`${fill(path)} ${fill(sent)}`] = await pages.queryOn(fill(path), fill(sent));
  }
  return answers;
}

/** A response without its read time and its cursor, which is signed with the database's own secret. */
export function withoutClocks(text: string): string {
  return text
    .replaceAll(/"cursor":"[^"]*"/g, '"cursor":"…"')
    .replaceAll(/"(last_\w+_sync|synced_at|requested_at|minutes_\w+)":(?:"[^"]*"|null)/g, '"$1":"…"');
}
