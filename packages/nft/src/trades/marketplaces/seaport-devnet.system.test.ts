/** A real Seaport 1.6 on a local node: every kind of sale, executed and decoded. */
import { type Log, parseAddress, parseHash } from '@chainstead/core';
import {
  createMarketScript,
  type Devnet,
  deployMarket,
  exampleChain,
  type Market,
  startDevnet,
} from '@chainstead/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { nftTrades } from '../dataset.ts';

const CHAIN_ID = 4_344;
const SETUP_MS = 120_000;

let devnet: Devnet;
let market: Market;

beforeAll(async () => {
  devnet = await startDevnet({ chainId: CHAIN_ID });
  market = await deployMarket(devnet);
}, SETUP_MS);
afterAll(() => devnet?.stop());

async function readLogs(): Promise<Log[]> {
  const logs = await devnet.client.getLogs({ fromBlock: 0n, toBlock: 'latest' });
  return logs.map((log) => ({
    address: parseAddress(log.address),
    topics: log.topics.map(parseHash),
    data: log.data,
    blockNumber: Number(log.blockNumber),
    blockHash: parseHash(log.blockHash),
    transactionHash: parseHash(log.transactionHash),
    transactionIndex: log.transactionIndex ?? 0,
    logIndex: log.logIndex ?? 0,
    blockTimestamp: null,
  }));
}

test(
  'every kind of sale comes out as the trades that it was',
  async () => {
    const script = createMarketScript(devnet, market);
    for (const kind of script.kinds) await script.sell(kind);
    await script.moveAround();
    const deployed = [{ protocol: 'seaport-1.6', address: market.seaport.address }];
    const rows = nftTrades.decode(await readLogs(), {
      chain: exampleChain({ id: CHAIN_ID, marketplaces: deployed }),
      timestampOf: () => 0,
    });
    const expected = (await script.expectedTrades()).map((trade) => ({
      tokenAddress: trade.token,
      tokenIds: trade.tokenIds.length === 1 ? null : trade.tokenIds,
      amounts: trade.amounts.join() === '1' ? null : trade.amounts,
      seller: trade.seller,
      buyer: trade.buyer,
      marketplaceAddress: trade.marketplace,
      paymentToken: trade.paymentToken,
      price: trade.price,
      transactionHash: trade.transactionHash,
    }));
    expect(expected.length).toBeGreaterThan(script.kinds.length);
    const leading = rows.filter((row) => row.leads);
    expect(leading).toHaveLength(expected.length);
    expect(leading).toMatchObject(expected);
  },
  SETUP_MS,
);
