/**
 * The 107 trades of the recorded blocks come out of the API as they were derived independently (by another decoder, and by hand
 * where the two differed), field by field. Ten of them are in two blocks that are recorded in part: those are indexed without
 * proof, which is what the level of their rows says.
 */

import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createChainRegistry } from '@chainstead/chains';
import { createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { createDatasetRoutes } from '@chainstead/datasets';
import { createJobs, type Jobs } from '@chainstead/jobs';
import { createScratchDatabase, recordedData, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiUnderTest, TEST_KEY } from './api-under-test.ts';
import { indexRecordedBlocks, layOutPartialBlocks, unprovable } from './recorded-blocks.ts';

const { folder, isMissing, title } = recordedData('data/evm');

/** As the given file has it. */
interface DerivedTrade {
  readonly folder: string;
  readonly tx: string;
  readonly market: string;
  readonly logs: readonly number[];
  readonly seller: string;
  readonly buyer: string;
  readonly contract: string;
  readonly items: readonly { readonly id: string; readonly amount: string }[];
  readonly payment_token: string;
  readonly price: string;
}

/** As the API serves it, of what the blocks say. */
interface Trade {
  readonly transaction_hash: string;
  readonly transaction_index: string;
  readonly token_ids: readonly string[];
  readonly seller_address: string;
  readonly buyer_address: string;
  readonly token_address: string;
  readonly marketplace_address: string;
  readonly price_token_address: string | null;
  readonly price: string;
  readonly block_timestamp: string;
  readonly block_number: string;
  readonly block_hash: string;
}

const COIN = `0x${'0'.repeat(40)}`;
const CHAINS = ['ethereum', 'polygon', 'base', 'arbitrum', 'optimism'] as const;
type ChainName = (typeof CHAINS)[number];

/** The exchange that OpenSea ran on Polygon; others ran the same contracts. */
const OPENSEA_ON_POLYGON = '0xfede379e48c873c75f3cc0c81f7c784ad730a8f7';

/** What the API's `marketplace` filter calls them. */
const FILTERS: Readonly<Record<string, string>> = {
  'wyvern v1(2.2)': 'opensea',
  'wyvern v2(2.3)': 'opensea',
  'seaport 1.1': 'opensea',
  'seaport 1.4': 'opensea',
  'seaport 1.5': 'opensea',
  'seaport 1.6': 'opensea',
  'blur v1': 'blur',
  'looksrare v1': 'looksrare',
  'looksrare v2': 'looksrare',
  'x2y2 r1': 'x2y2',
  '0x v4': '0xprotocol',
  cryptopunks: 'cryptopunks',
};

const read = (...path: string[]): unknown => JSON.parse(readFileSync(join(folder, ...path), 'utf8'));

function derivedTrades(): readonly DerivedTrade[] {
  const { derived_trades } = read('..', '..', 'contract', 'marketplaces.json') as { derived_trades: DerivedTrade[] };
  return derived_trades;
}

const isPartial = ({ folder: of }: DerivedTrade): boolean => of.startsWith('partial/');
const chainOf = (trade: DerivedTrade): string => (isPartial(trade) ? 'ethereum' : (trade.folder.split('/')[0] ?? ''));

/** With what the recorded block and receipts say of its place; the marketplace is whoever emitted the sale. */
function asServed(trade: DerivedTrade): Trade {
  const block = read(trade.folder, 'block.json') as { number: string; hash: string; timestamp: string };
  const receipts = read(trade.folder, 'receipts.json') as {
    transactionHash: string;
    transactionIndex: string;
    logs: { logIndex: string; address: string }[];
  }[];
  const receipt = receipts.find(({ transactionHash }) => transactionHash.toLowerCase() === trade.tx);
  const sale = receipt?.logs.find(({ logIndex }) => Number(logIndex) === trade.logs[0]);
  return {
    transaction_hash: trade.tx,
    transaction_index: String(Number(receipt?.transactionIndex)),
    token_ids: trade.items.map(({ id }) => id),
    seller_address: trade.seller,
    buyer_address: trade.buyer,
    token_address: trade.contract,
    marketplace_address: sale?.address.toLowerCase() ?? '',
    price_token_address: trade.payment_token === COIN ? null : trade.payment_token,
    price: trade.price,
    block_timestamp: new Date(Number(block.timestamp) * 1000).toISOString(),
    block_number: String(Number(block.number)),
    block_hash: block.hash.toLowerCase(),
  };
}

function factsOf(row: Trade): Trade {
  return {
    transaction_hash: row.transaction_hash,
    transaction_index: row.transaction_index,
    token_ids: row.token_ids,
    seller_address: row.seller_address,
    buyer_address: row.buyer_address,
    token_address: row.token_address,
    marketplace_address: row.marketplace_address,
    price_token_address: row.price_token_address,
    price: row.price,
    block_timestamp: row.block_timestamp,
    block_number: row.block_number,
    block_hash: row.block_hash,
  };
}

function filterOf(trade: DerivedTrade): string | undefined {
  if (trade.market === '0x v3 matchOrders')
    return asServed(trade).marketplace_address === OPENSEA_ON_POLYGON ? 'opensea' : '0xprotocol';
  return FILTERS[trade.market];
}

const asText = (trades: readonly Trade[]): string[] => trades.map((trade) => JSON.stringify(trade)).toSorted();

describe.skipIf(isMissing)(title('trades of recorded blocks'), () => {
  const chains = createChainRegistry();
  const trades = isMissing ? [] : derivedTrades();
  let scratch: ScratchDatabase;
  let jobs: Jobs;
  let api: Awaited<ReturnType<typeof createApiUnderTest>>;

  beforeAll(async () => {
    scratch = await createScratchDatabase();
    for (const name of CHAINS)
      await indexRecordedBlocks({ database: scratch.database, chain: facts(name), folder, name });
    const partial = new Set(trades.filter(isPartial).map((trade) => trade.folder));
    const laidOut = await layOutPartialBlocks(folder, 'ethereum', [...partial]);
    try {
      const chain = unprovable(facts('ethereum'));
      const { database } = scratch;
      await indexRecordedBlocks({ database, chain, folder: laidOut, name: 'ethereum', backfillProof: 'none' });
    } finally {
      await rm(laidOut, { recursive: true });
    }
    jobs = await createJobs({ databaseUrl: scratch.url, logger: silentLogger(), metrics: createMetricsRegistry() });
    const onDemand = { waitMs: 0, maxCalls: 0, perKey: 1 };
    const routes = createDatasetRoutes({
      database: scratch.database,
      logger: silentLogger(),
      jobs,
      chains: chains.all(),
      onDemand,
      clock: systemClock,
    });
    api = await createApiUnderTest(scratch.database, chains, routes);
  });
  afterAll(async () => {
    await jobs?.close();
    await scratch?.drop();
  });

  function facts(name: ChainName) {
    return chains.get(name === 'ethereum' ? 'eth' : name);
  }

  async function readTrades(name: string, path: string, query: Record<string, string> = {}): Promise<Trade[]> {
    const chain = facts(CHAINS.find((one) => one === name) ?? 'ethereum').key;
    const rows: Trade[] = [];
    for (let more: Record<string, string> | null = { chain, limit: '10', ...query }; more !== null; ) {
      const response = await api.request(`/api/v2.2/${path}?${new URLSearchParams(more)}`, {
        headers: { 'x-api-key': TEST_KEY },
      });
      expect(response.status, `${path} ${JSON.stringify(more)}`).toBe(200);
      const page = (await response.json()) as { cursor: string | null; result: Trade[] };
      rows.push(...page.result.map(factsOf));
      more = page.cursor === null ? null : { cursor: page.cursor };
    }
    return rows;
  }

  it('are 107', () => {
    expect(trades).toHaveLength(107);
  });

  it.each(CHAINS)('of %s: by collection on all marketplaces, field by field', async (name) => {
    const expected = trades.filter((trade) => chainOf(trade) === name);
    const served: Trade[] = [];
    for (const collection of new Set(expected.map(({ contract }) => contract)))
      served.push(...(await readTrades(name, `nft/${collection}/trades`, { marketplace: 'all' })));
    expect(asText(served)).toEqual(asText(expected.map(asServed)));
  });

  it('of these chains are no others', async () => {
    const rows = await scratch.database.query<{ transaction: string; log: number }>(
      `SELECT encode(transaction_hash, 'hex') AS transaction, log_index AS log FROM nft_trades WHERE leads`,
    );
    const found = rows.map(({ transaction, log }) => `0x${transaction} ${log}`);
    expect(found.toSorted()).toEqual(trades.map(({ tx, logs: [log] }) => `${tx} ${log}`).toSorted());
  });

  it('of each token, bundles at each of their tokens', async () => {
    const byToken = new Map<string, DerivedTrade[]>();
    for (const trade of trades)
      for (const { id } of trade.items) {
        const key = `${chainOf(trade)} nft/${trade.contract}/${id}/trades`;
        byToken.set(key, [...(byToken.get(key) ?? []), trade]);
      }
    for (const [key, expected] of byToken) {
      const [name = '', path = ''] = key.split(' ');
      expect(asText(await readTrades(name, path)), key).toEqual(asText(expected.map(asServed)));
    }
  });

  it('of each buyer and seller', async () => {
    const parties = new Set(
      trades.flatMap((trade) => [trade.seller, trade.buyer].map((one) => `${chainOf(trade)} ${one}`)),
    );
    for (const party of parties) {
      const [name = '', wallet = ''] = party.split(' ');
      const expected = trades.filter((one) => chainOf(one) === name && [one.seller, one.buyer].includes(wallet));
      const served = await readTrades(name, `wallets/${wallet}/nfts/trades`);
      expect(asText(served), party).toEqual(asText(expected.map(asServed)));
    }
  });

  it('by marketplace: OpenSea’s where none is named', async () => {
    for (const collection of new Set(trades.map((trade) => `${chainOf(trade)} ${trade.contract}`))) {
      const [name = '', contract = ''] = collection.split(' ');
      const ofCollection = trades.filter((trade) => chainOf(trade) === name && trade.contract === contract);
      for (const marketplace of [
        undefined,
        'opensea',
        'blur',
        'looksrare',
        'x2y2',
        '0xprotocol',
        'cryptopunks',
        'other',
      ]) {
        const expected = ofCollection.filter((trade) => filterOf(trade) === (marketplace ?? 'opensea'));
        const query = marketplace === undefined ? {} : { marketplace };
        const served = await readTrades(name, `nft/${contract}/trades`, query);
        expect(asText(served), `${collection} on ${marketplace}`).toEqual(asText(expected.map(asServed)));
      }
    }
  });
});
