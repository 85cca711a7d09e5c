/** Every NFT list, price and collection of the running program, against a real node with a real Seaport, over HTTP and by the official SDK. */

import { parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { type ExpectedTrade, type Moralis, startOfficialSdk } from '@chainstead/testkit';
import { numberToHex } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readAllPages, readApi, requestApi } from './demo/demo-api.ts';
import { readCollectionFacts, readHoldings, readMetadata } from './demo/nft-collections.ts';
import { expectedPrices, readEtherAnswers } from './demo/nft-prices.ts';
import { asServed } from './demo/nft-trades.ts';
import { waitUntil } from './indexed-chain.ts';
import { createNftStage, type IndexedNfts, NFT_STAGE_KEY, type NftStage } from './nft-stage.ts';

const CHAIN_ID = 1_337_010;
const chain = numberToHex(CHAIN_ID);
let stage: NftStage;
let indexed: IndexedNfts;
let cats: string;

beforeAll(async () => {
  stage = await createNftStage(CHAIN_ID);
  indexed = await stage.index();
  cats = stage.market.cats.address;
});
afterAll(() => stage?.close());

/** Newest first. */
async function expectedCats(): Promise<ExpectedTrade[]> {
  return (await stage.script.expectedTrades()).filter(({ token }) => token === cats).toReversed();
}

interface SdkPage<Row> {
  readonly result: Row[];
  hasNext(): boolean;
  next(): Promise<SdkPage<Row>>;
}

/** A list of the SDK's, page by page with `hasNext()` and `next()`. */
async function readAll<Row>(first: Promise<SdkPage<Row>>): Promise<{ rows: Row[]; pages: number }> {
  const rows: Row[] = [];
  let page = await first;
  for (let pages = 1; ; pages++) {
    rows.push(...page.result);
    if (!page.hasNext()) return { rows, pages };
    page = await page.next();
  }
}

/** The SDK shows addresses with the upper-case letters of their checksum, block numbers in hexadecimal, and no nulls. */
function inLowerCase(row: object): unknown {
  const entries = Object.entries(row).filter(([, value]) => value !== null && value !== undefined);
  return JSON.parse(JSON.stringify(Object.fromEntries(entries)).toLowerCase());
}

describe('the program over a node with a marketplace', () => {
  it('serves trades, prices, collections, owners and metadata as the node has them', () =>
    indexed.untilServedAsTheNodeSays());

  describe('to the official SDK', () => {
    let nft: Moralis['EvmApi']['nft'];
    beforeAll(async () => {
      const { Moralis } = await startOfficialSdk({ apiKey: NFT_STAGE_KEY, address: indexed.api.address });
      ({ nft } = Moralis.EvmApi);
    });

    it('gives the trades of a collection, page by page, of a marketplace, and between dates and blocks', async () => {
      const trades = await expectedCats();
      const expected = trades.map(asServed);
      const { rows, pages } = await readAll(nft.getNFTTrades({ address: cats, chain, limit: 3 }));
      expect(pages).toBe(Math.ceil(expected.length / 3));
      expect(rows.map((row) => inLowerCase(row.toJSON()))).toEqual(
        expected.map((trade) => inLowerCase({ ...trade, block_number: numberToHex(Number(trade.block_number)) })),
      );
      expect((await nft.getNFTTrades({ address: cats, chain, marketplace: 'blur' })).result).toEqual([]);
      const [, second] = trades;
      const hashesOf = async (bounds: { fromDate?: Date; fromBlock?: number }) =>
        (await nft.getNFTTrades({ address: cats, chain, ...bounds })).result.map((row) => row.transactionHash);
      expect(second).toBeDefined();
      const since = (key: 'blockTimestamp' | 'blockNumber') =>
        trades.filter((trade) => trade[key] >= (second?.[key] ?? 0)).map((trade) => trade.transactionHash);
      expect(await hashesOf({ fromDate: new Date((second?.blockTimestamp ?? 0) * 1_000) })).toEqual(
        since('blockTimestamp'),
      );
      expect(await hashesOf({ fromBlock: second?.blockNumber ?? 0 })).toEqual(since('blockNumber'));
    });

    it('gives the collections of a wallet, page by page, and who minted its NFTs', async () => {
      const holdings = await readHoldings(stage.devnet, stage.market);
      const facts = await readCollectionFacts(stage.devnet, stage.market);
      const byAddress = (a: { tokenAddress: string }, b: { tokenAddress: string }): number =>
        a.tokenAddress < b.tokenAddress ? -1 : 1;
      for (const wallet of stage.wallets) {
        const list = nft.getWalletNFTCollections({ address: wallet, chain, limit: 1, tokenCounts: true });
        const { rows, pages } = await readAll(list);
        const expected = facts.flatMap(
          ({ token_address: tokenAddress, contract_type: contractType, name, symbol }) => {
            const count = holdings.filter(
              ({ owner, token }) => owner === wallet && token === tokenAddress,
            ).length;
            return count === 0 ? [] : [{ tokenAddress, contractType, name, symbol, count }];
          },
        );
        const served = rows
          .map((row) => row.toJSON())
          .map((row) => ({ ...row, tokenAddress: row.tokenAddress.toLowerCase() }));
        expect(served.toSorted(byAddress)).toMatchObject(expected.toSorted(byAddress));
        expect(pages).toBe(Math.max(1, expected.length));
        const { raw } = await nft.getWalletNFTs({ address: wallet, chain, tokenAddresses: [cats] });
        for (const row of raw.result ?? []) expect(Object(row).minter_address).toMatch(/^0x[0-9a-f]{40}$/);
      }
    });

    it('gives what a collection says of itself; null for what is none', async () => {
      for (const facts of await readCollectionFacts(stage.devnet, stage.market)) {
        const answer = await nft.getNFTContractMetadata({ address: facts.token_address, chain });
        expect(answer?.raw).toMatchObject({ ...facts, possible_spam: false, verified_collection: false });
        expect(answer?.result.name).toBe(facts.name);
        expect(answer?.result.syncedAt).toBeInstanceOf(Date);
      }
      const { wrappedEther, seaport } = stage.market;
      for (const address of [wrappedEther.address, seaport.address, stage.wallets[0] ?? ''])
        expect(await nft.getNFTContractMetadata({ address, chain })).toBeNull();
    });

    it('gives the sale prices of tokens and collections, and says what is wrong with a request', async () => {
      const trades = await stage.script.expectedTrades();
      const { prints } = stage.market;
      const prices = expectedPrices(trades, await readEtherAnswers(stage.devnet, stage.market), [
        parseAddress(cats),
        prints.address,
      ]);
      let read = 0;
      for (const [path, expected] of prices) {
        const [, address = '', tokenId = ''] = path.split('/');
        const requested =
          tokenId === 'price'
            ? nft.getNFTContractSalePrices({ address, chain, days: 365 })
            : nft.getNFTSalePrices({ address, chain, tokenId, days: 7 });
        if (expected.total_trades === 0) {
          // The SDK can't read the documented nulls of a token without sales.
          await expect(requested, path).rejects.toThrow(/null/);
          continue;
        }
        const answer = await requested;
        expect(answer.raw, path).toMatchObject(expected);
        expect(answer.result.lastSale.priceFormatted).toBe(expected.last_sale?.price_formatted);
        read += 1;
      }
      expect(read).toBeGreaterThan(5);
      await expect(nft.getNFTContractSalePrices({ address: cats, chain, days: 366 })).rejects.toThrow(
        /400.*days/,
      );
    });
  });

  it('reads a collection again when its contract says so, and when it is asked to', async () => {
    const rename = { ...stage.market.cats, functionName: 'rename' };
    await stage.devnet.send({ ...rename, args: ['newcats'] });
    const untilTwitterIs = (name: string) =>
      waitUntil(async () => {
        const served = await readMetadata(indexed.api, cats);
        return served?.twitter_username === name
          ? null
          : `${served?.twitter_username}\n${indexed.program.output()}`;
      });
    await untilTwitterIs('newcats');

    const before = await requestApi(indexed.api, `nft/${cats}/metadata`);
    const response = await fetch(`${indexed.api.address}/api/v2.2/nft/${cats}/sync?chain=devnet`, {
      method: 'PUT',
      headers: { 'x-api-key': NFT_STAGE_KEY },
    });
    expect(response.status).toBe(201);
    const synced = z.object({ synced_at: z.string() });
    await waitUntil(async () => {
      const { body } = await requestApi(indexed.api, `nft/${cats}/metadata`);
      return synced.parse(body).synced_at > synced.parse(before.body).synced_at ? null : JSON.stringify(body);
    });
  });

  it('reads the document of a token when asked, and shows it with its trades', async () => {
    const [newest] = await expectedCats();
    const [id = ''] = newest?.tokenIds ?? [];
    const answer = await requestApi(indexed.api, `nft/${cats}/${id}/metadata/resync`, { mode: 'sync' });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    const { body } = await requestApi(indexed.api, `nft/${cats}/${id}/trades`);
    expect(body).toMatchObject({ result: [{ nft_metadata: [{ token_id: id, name: `Gallery Cat #${id}` }] }] });
    const queued = await requestApi(indexed.api, `nft/${cats}/${id}/metadata/resync`);
    expect(queued.status, JSON.stringify(queued.body)).toBe(202);
  });

  it('takes back the sales that a reorganisation takes away, with their prices and owners', async () => {
    const before = await stage.script.expectedTrades();
    await stage.script.sell('listing');
    await stage.script.sell('sweep');
    const lost = await stage.script.sell('mixedBundle');
    await indexed.untilServedAsTheNodeSays();
    await stage.devnet.reorg(7);
    const left = await stage.script.expectedTrades();
    expect(left.length).toBeLessThan(before.length + 3 + lost.length);
    await indexed.untilServedAsTheNodeSays();
    await stage.script.sell('offer');
    await stage.script.sell('routedSale');
    await stage.script.moveAround();
    await stage.script.answerEtherPrice(1_999.99);
    await indexed.untilServedAsTheNodeSays();
  });
});

/** As if the time had passed after which it is looked at again whether the newest blocks are final. */
async function lookAgain({ scratch }: IndexedNfts): Promise<void> {
  await scratch.database.query(
    sql`UPDATE backfill_requests SET due_at = now() WHERE status = 'pending' AND due_at > now()`,
  );
}

describe('a program that begins at the head', () => {
  it('reads the history of a wallet and of a collection when they are asked for', async () => {
    const late = await stage.index({ START_BLOCK_DEVNET: 'head', REORG_DEPTH_MAX_DEVNET: '8' });
    const [wallet = ZERO_ADDRESS] = stage.wallets;
    await waitUntil(async () => ((await fetch(`${late.api.address}/synced`)).ok ? null : late.program.output()));
    // Histories are read of blocks that no reorganisation reaches any more.
    await stage.devnet.mine(8);
    const envelope = z.object({ status: z.string(), status_message: z.string().optional() });
    const path = `${wallet}/nft/collections`;
    const statuses = new Set<string>();
    await waitUntil(async () => {
      const { status, status_message: why } = await readApi(late.api, path, envelope);
      statuses.add(status);
      await lookAgain(late);
      return status === 'SYNCED' ? null : `${status}: ${why}\n${late.program.output()}`;
    });
    expect([...statuses]).toEqual(['SYNCING', 'SYNCED']);
    const row = z.object({ token_address: z.string(), count: z.number() });
    const served = await readAllPages(late.api, path, row, { token_counts: 'true' });
    const holdings = await readHoldings(stage.devnet, stage.market);
    const expected = (await readCollectionFacts(stage.devnet, stage.market))
      .map(({ token_address }) => ({
        token_address,
        count: holdings.filter(({ owner, token }) => owner === wallet && token === token_address).length,
      }))
      .filter(({ count }) => count > 0);
    const byAddress = (a: { token_address: string }, b: { token_address: string }): number =>
      a.token_address < b.token_address ? -1 : 1;
    expect(served.toSorted(byAddress)).toEqual(expected.toSorted(byAddress));

    // The first question for its metadata has the whole collection's transfers read, so that all of its owners are known.
    const founders = stage.market.founders.address;
    await waitUntil(async () => ((await readMetadata(late.api, founders)) === null ? 'not read yet' : null));
    await waitUntil(async () => {
      await lookAgain(late);
      const rows = await late.scratch.database.query<{ owner: string; id: string }>(
        sql`SELECT encode(owner_bytes, 'hex') AS owner, token_id::text AS id FROM analytics.nft_owners
          WHERE token_bytes = decode(${founders.slice(2)}, 'hex') AND amount = 1`,
      );
      const owners = rows.map(({ owner, id }) => `${parseAddress(`0x${owner}`)} ${id}`).toSorted();
      const said = holdings
        .filter(({ token }) => token === founders)
        .map(({ owner, tokenId }) => `${owner} ${tokenId}`);
      return JSON.stringify(owners) === JSON.stringify(said.toSorted())
        ? null
        : `${owners}\n${late.program.output()}`;
    });
  });
});
