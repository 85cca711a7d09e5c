/**
 * A transaction executed by a real node for every marketplace version: real tokens, and at the market's own address a contract
 * that emits its event. The receipts, and the logs that a filter gives, must tell the sale.
 */
import { type Chain, createChainRegistry } from '@chainstead/chains';
import { type Log, parseAddress, parseHash, parseQuantity } from '@chainstead/core';
import { askNode, createLogPlayer, type Devnet, type LogPlayer, startDevnet } from '@chainstead/testkit';
import { toHex } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nftTrades } from './dataset.ts';
import { buyer, cats, type ExampleSale, prints, seller, trade, weth } from './marketplaces/testing/example-sale.ts';
import { chainOf, EXAMPLE_SALES } from './marketplaces/testing/example-sales.ts';
import { erc721, native, orderFulfilled } from './marketplaces/testing/example-seaport.ts';
import { marketplaces } from './marketplaces.ts';
import { decodeLogs, tradesOf } from './testing/example-trades.ts';
import { erc721Transfer } from './testing/example-transaction.ts';

/** Versions of which recorded transactions exist (derived-trades.test.ts), and no example. */
const RECORDED = new Set(['wyvern-2.2', 'wyvern-2.3', 'blur-v1']);

/** Seaport and its forks share their event. */
const seaportSales = marketplaces
  .filter(({ topics }) => topics.some((topic) => orderFulfilled(listing()).topics[0] === topic))
  .flatMap(({ protocol, addresses }): ExampleSale[] => {
    const chain = createChainRegistry()
      .all()
      .find((one) => addresses(one).length > 0);
    const [address] = chain === undefined ? [] : addresses(chain);
    if (chain === undefined || address === undefined) return [];
    const logs = [orderFulfilled(listing(), address), erc721Transfer(cats, seller, buyer, 7n)];
    return [{ what: 'listing bought', protocol, chainId: chain.id, logs, trades: [trade()] }];
  });

const sales = [...EXAMPLE_SALES, ...seaportSales];

let devnet: Devnet;
let player: LogPlayer;

beforeAll(async () => {
  devnet = await startDevnet();
  player = await createLogPlayer(devnet, { tokens: { erc721: cats, erc1155: prints, erc20: weth } });
}, 60_000);
afterAll(() => devnet.stop());

test('there is a sale for every version that has no recorded one', () => {
  const shown = new Set(sales.map((sale) => sale.protocol));
  const protocols = [...new Set(marketplaces.map((marketplace) => marketplace.protocol))];
  expect(protocols.filter((protocol) => !shown.has(protocol) && !RECORDED.has(protocol))).toEqual([]);
});

describe('executed', () => {
  test.each(sales)('$protocol: $what', async (sale) => {
    const receipt = await player.play(sale.logs);
    expect(receipt.logs.length).toBeGreaterThanOrEqual(sale.logs.length);
    const fromReceipt = decodeLogs(receipt.logs.map(readLog), chainOf(sale));
    expect(tradesOf(fromReceipt).map(({ logIndex: _, ...facts }) => facts)).toEqual(sale.trades);
    expect(new Set(fromReceipt.map((row) => row.protocol))).toEqual(new Set([sale.protocol]));
    expect(decodeLogs(await filteredLogs(receipt.blockNumber, chainOf(sale)), chainOf(sale))).toEqual(fromReceipt);
  });
});

function listing() {
  return { offerer: seller, recipient: buyer, offer: [erc721(cats, 7n)], consideration: [native(1_000n, seller)] };
}

async function filteredLogs(block: bigint, chain: Chain): Promise<Log[]> {
  const filter = { fromBlock: toHex(block), toBlock: toHex(block), topics: [nftTrades.topics(chain)] };
  const logs = (await askNode(devnet.url, 'eth_getLogs', [filter])) as RawLog[];
  return logs.map(readLog);
}

interface RawLog {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
  readonly blockNumber: string | bigint | null;
  readonly blockHash: string | null;
  readonly transactionHash: string | null;
  readonly transactionIndex: string | number | null;
  readonly logIndex: string | number | null;
}

/** A node's log, or viem's, which has read its numbers. */
function readLog(raw: RawLog): Log {
  const number = (value: string | number | bigint | null): number =>
    typeof value === 'string' ? parseQuantity(value) : Number(value);
  return {
    address: parseAddress(raw.address),
    topics: raw.topics.map(parseHash),
    data: raw.data as Log['data'],
    blockNumber: number(raw.blockNumber),
    blockHash: parseHash(raw.blockHash),
    transactionHash: parseHash(raw.transactionHash),
    transactionIndex: number(raw.transactionIndex),
    logIndex: number(raw.logIndex),
    blockTimestamp: null,
  };
}
