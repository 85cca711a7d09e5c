/** Every NFT route of the running program over HTTP, against what a real node with a real Seaport says. */
import { parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import { type ExpectedTrade, FOUNDERS } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { askApi, readAllPages, readApi } from '../demo/demo-api.ts';
import { readCollectionFacts, readHoldings, readMetadata } from '../demo/nft-collections.ts';
import { readPrices } from '../demo/nft-prices.ts';
import { asServed, servedTrade } from '../demo/nft-trades.ts';
import { waitUntil } from './indexed-chain.ts';
import { createNftStage, type IndexedNfts, NFT_STAGE_KEY, type NftStage } from './nft-stage.ts';

// Processes start slowly on a busy machine.
const CHAIN_ID = 1_337_010;
let stage: NftStage;
let indexed: IndexedNfts;
let cats: string;
let prints: string;

beforeAll(async () => {
  stage = await createNftStage(CHAIN_ID);
  indexed = await stage.index();
  cats = stage.market.cats.address;
  prints = stage.market.prints.address;
});
afterAll(() => stage?.close());

const indexedState = z.object({ from_block: z.string(), to_block: z.string(), complete: z.boolean() });

/** Newest first. */
async function expectedCats(): Promise<ExpectedTrade[]> {
  return (await stage.script.expectedTrades()).filter(({ token }) => token === cats).toReversed();
}

async function head(): Promise<number> {
  return Number(await stage.devnet.client.getBlockNumber({ cacheTime: 0 }));
}

describe('the program over a node with a marketplace', () => {
  it('serves trades, prices, collections, owners and metadata as the node has them', () =>
    indexed.untilServedAsTheNodeSays());

  it('knows every owner and every balance', async () => {
    const rows = await indexed.scratch.database.query<{ holding: string }>(
      `SELECT concat_ws(' ', encode(owner_bytes, 'hex'), encode(token_bytes, 'hex'), token_id, amount) AS holding
         FROM analytics.nft_owners`,
    );
    const expected = (await readHoldings(stage.devnet, stage.market)).map(({ owner, token, tokenId, amount }) =>
      [owner.slice(2), token.slice(2), tokenId, amount].join(' '),
    );
    expect(expected.length).toBeGreaterThan(FOUNDERS);
    expect(rows.map(({ holding }) => holding).toSorted()).toEqual(expected.toSorted());
  });

  it('lists trades newest first, by pages that neither repeat nor leave out', async () => {
    const expected = (await expectedCats()).map(asServed);
    for (const limit of [1, 4, 100]) {
      const served = await readAllPages(indexed.api, `nft/${cats}/trades`, servedTrade, { limit: String(limit) });
      expect(served).toEqual(expected);
    }
    const { indexed: state } = await readApi(indexed.api, `nft/${cats}/trades`, z.object({ indexed: indexedState }));
    expect(state).toEqual({ from_block: '0', to_block: String(await head()), complete: true });
  });

  it('filters trades by marketplace, block and date', async () => {
    const expected = await expectedCats();
    const [newest, , third] = expected;
    const oldest = expected.at(-1);
    if (newest === undefined || third === undefined || oldest === undefined) throw new Error('three trades are needed');
    const read = (query: Record<string, string>) => readAllPages(indexed.api, `nft/${cats}/trades`, servedTrade, query);
    const shown = (from: number, to: number, by: 'blockNumber' | 'blockTimestamp' = 'blockNumber') =>
      expected.filter((trade) => trade[by] >= from && trade[by] <= to).map(asServed);
    expect(await read({ marketplace: 'blur' })).toEqual([]);
    expect(await read({ marketplace: 'all' })).toEqual(expected.map(asServed));
    expect(await read({ from_block: String(third.blockNumber) })).toEqual(shown(third.blockNumber, newest.blockNumber));
    expect(await read({ to_block: String(third.blockNumber) })).toEqual(shown(oldest.blockNumber, third.blockNumber));
    const dates = { from_date: String(oldest.blockTimestamp), to_date: asServed(third).block_timestamp };
    expect(await read(dates)).toEqual(shown(oldest.blockTimestamp, third.blockTimestamp, 'blockTimestamp'));
    expect(await read({ to_date: String(oldest.blockTimestamp - 1) })).toEqual([]);
    for (const query of [{ marketplace: 'nowhere' }, { limit: '0' }, { cursor: 'x' }, { from_block: '-1' }])
      expect((await askApi(indexed.api, `nft/${cats}/trades`, query)).status, JSON.stringify(query)).toBe(400);
  });

  it('gives prices for a window of days, counting ether alone', async () => {
    const trades = await stage.script.expectedTrades();
    const counted = trades.filter((one) => one.token === cats && one.paymentToken === null && !one.bundle);
    expect((await readPrices(indexed.api, `nft/${cats}/price`)).total_trades).toBe(counted.length);
    const empty = await askApi(indexed.api, `nft/${cats}/price`, { days: '0' });
    expect(empty).toMatchObject({ status: 200, body: { last_sale: null, average_sale: null, total_trades: 0 } });
    expect(empty.body).toHaveProperty('message');
    for (const days of ['366', '-1', 'x', '1.5'])
      expect((await askApi(indexed.api, `nft/${cats}/price`, { days })).status, days).toBe(400);
    const offer = trades.find(({ what }) => what === 'offer');
    const [id = ''] = offer?.tokenIds ?? [];
    expect(await readPrices(indexed.api, `nft/${cats}/${id}/price`)).toMatchObject({
      last_sale: null,
      total_trades: 0,
    });
  });

  it('shows the payment token of a sale, and three prints of a lot as three units', async () => {
    const lot = (await stage.script.expectedTrades()).find(({ what }) => what === 'partial fill');
    const path = `nft/${prints}/${lot?.tokenIds[0]}/price`;
    const { body } = await askApi(indexed.api, path);
    expect(body).toMatchObject({
      last_sale: {
        price: String(BigInt(lot?.price ?? 0) / 3n),
        payment_token: { token_symbol: 'ETH', token_decimals: '18', token_address: `0x${'e'.repeat(40)}` },
      },
    });
  });

  it('pages through the collections of a wallet, and says that it is synced', async () => {
    const [wallet = ZERO_ADDRESS] = stage.wallets;
    const row = z.object({ token_address: z.string(), count: z.number().optional(), possible_spam: z.boolean() });
    const path = `${wallet}/nft/collections`;
    const rows = await readAllPages(indexed.api, path, row, { limit: '1' });
    expect(rows.map(({ token_address }) => token_address)).toEqual(
      [...new Set(rows.map(({ token_address }) => token_address))].toSorted(),
    );
    expect(rows.every(({ count }) => count === undefined)).toBe(true);
    expect(await readAllPages(indexed.api, path, row, { exclude_spam: 'true' })).toEqual(rows);
    expect(await askApi(indexed.api, path)).toMatchObject({ status: 200, body: { status: 'SYNCED', page: 1 } });
  });

  it('says of what is no NFT contract that it is none', async () => {
    const [wallet = ZERO_ADDRESS] = stage.wallets;
    for (const [address, why] of [
      [wallet, 'is not a contract'],
      [stage.market.wrappedEther.address, 'is not an NFT contract'],
      [stage.market.seaport.address, 'is not an NFT contract'],
    ] as const) {
      await waitUntil(async () => {
        const { status, body } = await askApi(indexed.api, `nft/${address}/metadata`);
        expect(status).toBe(404);
        const text = JSON.stringify(body);
        return text.includes(why) ? null : text;
      });
    }
  });

  it('reads a collection again when its contract says so, and when it is asked to', async () => {
    const rename = { ...stage.market.cats, functionName: 'rename' };
    await stage.devnet.send({ ...rename, args: ['newcats'] });
    const untilTwitterIs = (name: string) =>
      waitUntil(async () => {
        const served = await readMetadata(indexed.api, cats);
        return served?.twitter_username === name ? null : `${served?.twitter_username}\n${indexed.program.output()}`;
      });
    await untilTwitterIs('newcats');

    const before = await askApi(indexed.api, `nft/${cats}/metadata`);
    const response = await fetch(`${indexed.api.address}/api/v2.2/nft/${cats}/sync?chain=devnet`, {
      method: 'PUT',
      headers: { 'x-api-key': NFT_STAGE_KEY },
    });
    expect(response.status).toBe(201);
    const synced = z.object({ synced_at: z.string() });
    await waitUntil(async () => {
      const { body } = await askApi(indexed.api, `nft/${cats}/metadata`);
      return synced.parse(body).synced_at > synced.parse(before.body).synced_at ? null : JSON.stringify(body);
    });
  });

  it('reads the document of a token when asked, and shows it with its trades', async () => {
    const [newest] = await expectedCats();
    const [id = ''] = newest?.tokenIds ?? [];
    const answer = await askApi(indexed.api, `nft/${cats}/${id}/metadata/resync`, { mode: 'sync' });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    const { body } = await askApi(indexed.api, `nft/${cats}/${id}/trades`);
    expect(body).toMatchObject({ result: [{ nft_metadata: [{ token_id: id, name: `Gallery Cat #${id}` }] }] });
    const queued = await askApi(indexed.api, `nft/${cats}/${id}/metadata/resync`);
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
    `UPDATE subject_histories SET due_at = now() WHERE status = 'pending' AND due_at > now()`,
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
        `SELECT encode(owner_bytes, 'hex') AS owner, token_id::text AS id FROM analytics.nft_owners
          WHERE token_bytes = decode($1, 'hex') AND amount = 1`,
        [founders.slice(2)],
      );
      const owners = rows.map(({ owner, id }) => `${parseAddress(`0x${owner}`)} ${id}`).toSorted();
      const said = holdings
        .filter(({ token }) => token === founders)
        .map(({ owner, tokenId }) => `${owner} ${tokenId}`);
      return JSON.stringify(owners) === JSON.stringify(said.toSorted()) ? null : `${owners}\n${late.program.output()}`;
    });
  });
});
