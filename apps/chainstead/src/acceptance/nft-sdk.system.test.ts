/** The official SDK, with nothing but another base URL, reads NFT trades, prices, collections and metadata from the running program. */
import { type ExpectedTrade, type Moralis, startOfficialSdk } from '@chainstead/testkit';
import { numberToHex } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readCollectionFacts, readHoldings } from '../demo/nft-collections.ts';
import { expectedPrices, readEtherAnswers } from '../demo/nft-prices.ts';
import { asServed } from '../demo/nft-trades.ts';
import { createNftStage, type IndexedNfts, NFT_STAGE_KEY, type NftStage } from './nft-stage.ts';

// Processes start slowly on a busy machine.
const CHAIN_ID = 1_337_011;
const chain = `0x${CHAIN_ID.toString(16)}`;
let stage: NftStage;
let nft: Moralis['EvmApi']['nft'];
let indexed: IndexedNfts;

beforeAll(async () => {
  stage = await createNftStage(CHAIN_ID);
  indexed = await stage.index();
  await indexed.untilServedAsTheNodeSays();
  const { Moralis } = await startOfficialSdk({ apiKey: NFT_STAGE_KEY, address: indexed.api.address });
  ({ nft } = Moralis.EvmApi);
});
afterAll(() => stage?.close());

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

interface SdkPage<Row> {
  readonly result: Row[];
  hasNext(): boolean;
  next(): Promise<SdkPage<Row>>;
}

describe('the official SDK', () => {
  it('reads the trades of a collection, page by page', async () => {
    const { cats } = stage.market;
    const expected = (await stage.script.expectedTrades())
      .filter(({ token }) => token === cats.address)
      .toReversed()
      .map(asServed);
    const { rows, pages } = await readAll(nft.getNFTTrades({ address: cats.address, chain, limit: 3 }));
    expect(pages).toBe(Math.ceil(expected.length / 3));
    expect(rows.map((row) => inLowerCase(row.toJSON()))).toEqual(
      expected.map((trade) => inLowerCase({ ...trade, block_number: numberToHex(Number(trade.block_number)) })),
    );
    const others = await nft.getNFTTrades({ address: cats.address, chain, marketplace: 'blur' });
    expect(others.result).toEqual([]);
  });

  it('has no call for the trades of one token: plain HTTP has', async () => {
    const bundle = (await stage.script.expectedTrades()).find(({ what }) => what === 'bundle') as ExpectedTrade;
    for (const id of bundle.tokenIds) {
      const url = `${indexed.api.address}/api/v2.2/nft/${bundle.token}/${id}/trades?chain=${chain}`;
      const response = await fetch(url, { headers: { accept: 'application/json', 'X-API-Key': NFT_STAGE_KEY } });
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ page: 0, cursor: null, result: [asServed(bundle)] });
    }
  });

  it('reads the collections of a wallet, page by page', async () => {
    const holdings = await readHoldings(stage.devnet, stage.market);
    const facts = await readCollectionFacts(stage.devnet, stage.market);
    for (const wallet of stage.wallets) {
      const list = nft.getWalletNFTCollections({ address: wallet, chain, limit: 1, tokenCounts: true });
      const { rows, pages } = await readAll(list);
      const expected = facts.flatMap(({ token_address: tokenAddress, contract_type: contractType, name, symbol }) => {
        const count = holdings.filter(({ owner, token }) => owner === wallet && token === tokenAddress).length;
        return count === 0 ? [] : [{ tokenAddress, contractType, name, symbol, count }];
      });
      const byAddress = (a: { tokenAddress: string }, b: { tokenAddress: string }): number =>
        a.tokenAddress < b.tokenAddress ? -1 : 1;
      const served = rows
        .map((row) => row.toJSON())
        .map((row) => ({ ...row, tokenAddress: row.tokenAddress.toLowerCase() }));
      expect(served.toSorted(byAddress)).toMatchObject(expected.toSorted(byAddress));
      expect(pages).toBe(Math.max(1, expected.length));
    }
    const { raw } = await nft.getWalletNFTCollections({ address: stage.wallets[0] ?? '', chain });
    expect(raw).toMatchObject({ status: 'SYNCED' });
  });

  it('reads the NFTs of a wallet, page by page, and each by itself, as the contracts say', async () => {
    const holdings = await readHoldings(stage.devnet, stage.market);
    const { wrappedEther } = stage.market;
    let single = 0;
    for (const wallet of stage.wallets) {
      const { rows } = await readAll(nft.getWalletNFTs({ address: wallet, chain, limit: 2 }));
      const served = rows.map((row) => `${row.tokenAddress.lowercase} ${row.tokenId} ${row.amount}`);
      const expected = holdings
        .filter(({ owner }) => owner === wallet)
        .map(({ token, tokenId, amount }) => `${token} ${tokenId} ${amount}`);
      expect(served.toSorted()).toEqual(expected.toSorted());
      const tokens = rows.slice(0, 25).map((row) => ({
        tokenAddress: row.tokenAddress.lowercase,
        tokenId: String(row.tokenId),
        isSingle: row.contractType === 'ERC721',
      }));
      if (tokens.length === 0) continue;
      const several = await nft.getMultipleNFTs({ chain, tokens });
      for (const [index, { tokenAddress, tokenId, isSingle }] of tokens.entries()) {
        const one = await nft.getNFTMetadata({ address: tokenAddress, chain, tokenId });
        expect([one?.raw.token_id, several.raw[index]?.token_id]).toEqual([tokenId, tokenId]);
        if (!isSingle) continue;
        expect([one?.result.ownerOf?.lowercase, several.result[index]?.ownerOf?.lowercase]).toEqual([wallet, wallet]);
        expect(Object(one?.raw).minter_address).toMatch(/^0x[0-9a-f]{40}$/);
        single += 1;
      }
    }
    expect(single).toBeGreaterThan(2);
    expect(await nft.getNFTMetadata({ address: wrappedEther.address, chain, tokenId: '1' })).toBeNull();
  });

  it('reads what a collection says of itself; null for what is none', async () => {
    for (const facts of await readCollectionFacts(stage.devnet, stage.market)) {
      const answer = await nft.getNFTContractMetadata({ address: facts.token_address, chain });
      expect(answer?.raw).toMatchObject({ ...facts, possible_spam: false, verified_collection: false });
      expect(answer?.result.name).toBe(facts.name);
    }
    const { wrappedEther } = stage.market;
    for (const address of [wrappedEther.address, stage.wallets[0] ?? ''])
      expect(await nft.getNFTContractMetadata({ address, chain })).toBeNull();
  });

  it('reads the sale prices of tokens and collections', async () => {
    const trades = await stage.script.expectedTrades();
    const { cats, prints } = stage.market;
    const prices = expectedPrices(trades, await readEtherAnswers(stage.devnet, stage.market), [
      cats.address,
      prints.address,
    ]);
    let read = 0;
    for (const [path, expected] of prices) {
      // The SDK can't read the answer for a token without sales, whatever it is.
      if (expected.total_trades === 0) continue;
      const [, address = '', tokenId = ''] = path.split('/');
      const answer =
        tokenId === 'price'
          ? await nft.getNFTContractSalePrices({ address, chain, days: 365 })
          : await nft.getNFTSalePrices({ address, chain, tokenId, days: 7 });
      expect(answer.raw, path).toMatchObject(expected);
      expect(answer.result.lastSale.priceFormatted).toBe(expected.last_sale?.price_formatted);
      read += 1;
    }
    expect(read).toBeGreaterThan(5);
  });

  it('is told of its mistakes', async () => {
    const { cats } = stage.market;
    const options = { address: cats.address, chain };
    await expect(nft.getNFTContractSalePrices({ ...options, days: 366 })).rejects.toThrow(/400.*days/);
    await expect(nft.getNFTTrades({ ...options, limit: 0 })).rejects.toThrow(/400.*limit/);
  });
});
