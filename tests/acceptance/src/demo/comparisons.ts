import { type Address, parseAddress } from '@chainstead/core';
import type { TradedChain } from 'chainstead/src/demo/demo-chain.ts';
import { z } from 'zod';
import { type DemoApi, readAllPages } from './demo-api.ts';
import type { Comparison } from './equality.ts';
import { gatewayCalls, gatewayUrl, readCalls } from './gateway-calls.ts';
import {
  expectedCollections,
  type Holding,
  readCollectionFacts,
  readCollections,
  readHoldings,
  readMetadata,
} from './nft-collections.ts';
import { expectedPrices, readEtherAnswers, readPrices, type ServedPrices, servedPrices } from './nft-prices.ts';
import { asServed, expectedTradeLists, readTradeList, tradeText } from './nft-trades.ts';
import { readNodeTransactions } from './node-transactions.ts';
import {
  expectedBalances,
  expectedOwners,
  readNodeBalances,
  readServedBalances,
  readServedOwners,
} from './token-balances.ts';
import {
  expectedByHash,
  expectedHistory,
  expectedTransactions,
  readServedByHash,
  readServedHistory,
  readServedTransactions,
} from './wallet-activity.ts';
import { readNodeTransfers, readServedTransfers } from './wallet-transfers.ts';

/** Each takes the API a call to the node. */
const TRANSACTIONS_READ = 20;

/** Reads all comparisons of the demo with the current data of the node. The chain must not change until they are done. */
export async function readComparisons(chain: TradedChain, api: DemoApi): Promise<Comparison[]> {
  const { devnet, wallets } = chain;
  return [
    {
      subject: 'token transfers',
      expected: await readNodeTransfers(devnet, wallets),
      served: () => readServedTransfers(api, wallets),
    },
    ...(await compareBalances(chain, api)),
    ...(await compareSales(chain, api)),
    ...(await compareCollections(chain, api)),
    ...(await compareActivity(chain, api)),
    await compareCalls(chain, api),
  ];
}

async function compareBalances({ devnet, market, wallets }: TradedChain, api: DemoApi): Promise<Comparison[]> {
  const balances = await readNodeBalances(devnet);
  // The owners of the wrapped native token are not known by its transfers.
  const tokens = [...new Set(balances.map(({ token }) => token))].filter(
    (token) => token !== market.wrappedEther.address,
  );
  return [
    {
      subject: 'token balances of wallets',
      expected: expectedBalances(balances, wallets),
      served: () => readServedBalances(api, wallets),
    },
    {
      subject: 'owners of tokens with balances',
      expected: expectedOwners(balances, tokens),
      served: () => readServedOwners(api, tokens),
    },
  ];
}

async function compareSales(
  { devnet, market, script, wallets }: TradedChain,
  api: DemoApi,
): Promise<Comparison[]> {
  const trades = await script.expectedTrades();
  const collections = [market.cats.address, market.prints.address, market.founders.address];
  const lists = expectedTradeLists(trades, collections, wallets);
  const prices = expectedPrices(trades, await readEtherAnswers(devnet, market), collections);
  const priceText = (path: string, value: ServedPrices): string =>
    `${path}: ${JSON.stringify(servedPrices.parse(value))}`;
  return [
    {
      subject: 'NFT trades by collection, token and wallet',
      expected: [...lists].flatMap(([path, ofList]) => ofList.map((trade) => tradeText(path, asServed(trade)))),
      served: () => collect(lists.keys(), (path) => readTradeList(api, path)),
    },
    {
      subject: 'sale prices',
      expected: [...prices].map(([path, value]) => priceText(path, value)),
      served: () => collect(prices.keys(), async (path) => [priceText(path, await readPrices(api, path))]),
    },
  ];
}

async function compareCollections({ devnet, market, wallets }: TradedChain, api: DemoApi): Promise<Comparison[]> {
  const facts = await readCollectionFacts(devnet, market);
  const holdings = await readHoldings(devnet, market);
  return [
    {
      subject: 'collections of wallets with token counts',
      expected: expectedCollections(holdings, wallets, facts),
      served: () => readCollections(api, wallets),
    },
    {
      subject: 'owners of NFTs',
      expected: holdings.map(holdingText),
      served: () =>
        readServedNftOwners(
          api,
          facts.map(({ token_address }) => parseAddress(token_address)),
        ),
    },
    {
      subject: 'NFTs of wallets',
      expected: holdings.filter(({ owner }) => wallets.includes(owner)).map(holdingText),
      served: () => readServedWalletNfts(api, wallets),
    },
    {
      subject: 'collections with metadata',
      expected: facts.map((one) => JSON.stringify(one)),
      served: () =>
        collect(facts, async (one) => {
          const served = await readMetadata(api, one.token_address);
          return served === null ? [] : [JSON.stringify(served)];
        }),
    },
  ];
}

async function compareActivity(
  { devnet, market, script, wallets }: TradedChain,
  api: DemoApi,
): Promise<Comparison[]> {
  const chain = await readNodeTransactions(devnet);
  // A contract's list begins with what created it.
  const listed = [...wallets, market.cats.address];
  const newest = chain.slice(-TRANSACTIONS_READ);
  return [
    {
      subject: 'transactions of wallets and of a contract',
      expected: expectedTransactions(chain, listed),
      served: () => readServedTransactions(api, listed),
    },
    {
      subject: 'transactions by hash, read from the node',
      expected: expectedByHash(newest),
      served: () => readServedByHash(api, newest),
    },
    {
      subject: 'history entries of wallets with categories',
      expected: expectedHistory(chain, wallets, await script.expectedTrades()),
      served: () => readServedHistory(api, wallets),
    },
  ];
}

async function compareCalls({ devnet }: TradedChain, api: DemoApi): Promise<Comparison> {
  const calls = await gatewayCalls(devnet);
  return {
    subject: 'JSON-RPC calls through the gateway',
    expected: await readCalls(devnet.url, calls),
    served: () => readCalls(gatewayUrl(api), calls),
  };
}

/** One after the other: the demo's own questions shall not be the load. */
async function collect<Of>(subjects: Iterable<Of>, read: (subject: Of) => Promise<string[]>): Promise<string[]> {
  const texts: string[] = [];
  for (const subject of subjects) texts.push(...(await read(subject)));
  return texts;
}

/** An NFT amount of an owner, as text. */
function holdingText({ token, tokenId, owner, amount }: Readonly<Record<keyof Holding, string>>): string {
  return `${token} ${tokenId} of ${owner}: ${amount}`;
}

const servedHolding = z.object({
  token_address: z.string(),
  token_id: z.string(),
  owner_of: z.string(),
  amount: z.string(),
});

/** Owners of collections, with what they own, as the API serves them. @throws DemoApiError */
function readServedNftOwners(api: DemoApi, collections: readonly Address[]): Promise<string[]> {
  return readLists(
    api,
    collections.map((collection) => `nft/${collection}/owners`),
  );
}

/** NFT holdings of wallets in all collections, as the API serves them. @throws DemoApiError */
function readServedWalletNfts(api: DemoApi, wallets: readonly Address[]): Promise<string[]> {
  return readLists(
    api,
    wallets.map((wallet) => `${wallet}/nft`),
  );
}

async function readLists(api: DemoApi, paths: readonly string[]): Promise<string[]> {
  const texts: string[] = [];
  for (const path of paths) {
    const rows = await readAllPages(api, path, servedHolding);
    texts.push(
      ...rows.map(({ token_address: token, token_id: tokenId, owner_of: owner, amount }) =>
        holdingText({ token, tokenId, owner, amount }),
      ),
    );
  }
  return texts;
}
