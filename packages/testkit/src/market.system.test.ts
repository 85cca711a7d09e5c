import { type Address, parseAddress } from '@chainstead/core';
import { parseAbi, parseEventLogs, type TransactionReceipt } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Devnet, startDevnet } from './devnet.ts';
import { type DeployedContract, deployMarket, FOUNDERS, type Market } from './market.ts';
import { createMarketScript, type MarketScript } from './market-script.ts';
import type { ExpectedTrade } from './market-stall.ts';

const ERC20_TRANSFER = parseAbi(['event Transfer(address indexed src, address indexed dst, uint256 wad)']);

let devnet: Devnet;
let market: Market;
let script: MarketScript;

beforeAll(async () => {
  devnet = await startDevnet({ chainId: 4_343 });
  market = await deployMarket(devnet);
  script = createMarketScript(devnet, market);
});
afterAll(() => devnet?.stop());

async function read(contract: DeployedContract, functionName: string, ...args: readonly unknown[]): Promise<unknown> {
  const { address, abi } = contract;
  return devnet.client.readContract({ address, abi, functionName, args });
}

function eventsOf(receipt: TransactionReceipt, contract: DeployedContract, eventName: string) {
  const logs = receipt.logs.filter((log) => parseAddress(log.address) === contract.address);
  return parseEventLogs({ abi: contract.abi, eventName, logs });
}

function documentOf(uri: unknown): unknown {
  const [, encoding = '', body = ''] = /^data:application\/json;(base64|utf8),(.*)$/s.exec(String(uri)) ?? [];
  return JSON.parse(encoding === 'base64' ? Buffer.from(body, 'base64').toString() : body);
}

async function expectHeldByBuyer(trade: ExpectedTrade): Promise<void> {
  for (const [index, id] of trade.tokenIds.entries())
    if (trade.token === market.prints.address)
      expect(await read(market.prints, 'balanceOf', trade.buyer, BigInt(id))).toBe(BigInt(trade.amounts[index] ?? 0));
    else expect(parseAddress(await read(market.cats, 'ownerOf', BigInt(id)))).toBe(trade.buyer);
}

/** What left the buyer: of wrapped ether by its transfers, of ether by what was sent less what came back. */
async function paidBy(buyer: Address, receipt: TransactionReceipt, paymentToken: Address | null): Promise<bigint> {
  if (paymentToken !== null)
    return parseEventLogs({ abi: ERC20_TRANSFER, logs: receipt.logs })
      .filter(({ address, args }) => parseAddress(address) === paymentToken && parseAddress(args.src) === buyer)
      .reduce((sum, { args }) => sum + args.wad, 0n);
  const at = (blockNumber: bigint): Promise<bigint> => devnet.client.getBalance({ address: buyer, blockNumber });
  const gas = receipt.gasUsed * receipt.effectiveGasPrice;
  return (await at(receipt.blockNumber - 1n)) - (await at(receipt.blockNumber)) - gas;
}

describe('deployMarket', () => {
  it('deploys the real Seaport 1.6', async () => {
    const [version] = (await read(market.seaport, 'information')) as [string];
    expect([await read(market.seaport, 'name'), version]).toEqual(['Seaport', '1.6']);
  });

  it('mints the founders by one ConsecutiveTransfer in their creation', async () => {
    const logs = await devnet.client.getLogs({ address: market.founders.address, fromBlock: 0n });
    const [minted] = parseEventLogs({ abi: market.founders.abi, logs, eventName: 'ConsecutiveTransfer' });
    expect(minted?.args).toMatchObject({ fromTokenId: 0n, toTokenId: BigInt(FOUNDERS - 1) });
    expect(await read(market.founders, 'balanceOf', market.traders[0])).toBe(BigInt(FOUNDERS));
  });

  it('gives collections that describe themselves in data documents, base64 and plain', async () => {
    expect(documentOf(await read(market.cats, 'contractURI'))).toMatchObject({
      name: 'Gallery Cats',
      twitter_username: 'gallerycats',
    });
    expect(documentOf(await read(market.prints, 'contractURI'))).toMatchObject({ name: 'Gallery Prints' });
    expect(documentOf(await read(market.prints, 'uri', 7n))).toEqual({ name: 'Gallery Print 7' });
    await devnet.send({ ...market.cats, functionName: 'mint', args: [market.feeRecipient, 0n] });
    expect(documentOf(await read(market.cats, 'tokenURI', 0n))).toMatchObject({ name: 'Gallery Cat #0' });
  });

  it('gives a feed that answers with Chainlink’s event', async () => {
    await script.answerEtherPrice(2_500.5);
    const logs = await devnet.client.getLogs({ address: market.etherFeed.address, fromBlock: 0n });
    expect(logs.at(-1)?.topics[0]).toBe('0x0559884fd3a460db3073b7fc896cc77986f16e378210ded43186175bf646fc5f');
    expect(await read(market.etherFeed, 'latestAnswer')).toBe(250_050_000_000n);
  });
});

describe('createMarketScript', () => {
  /** Orders that are filled, and whether they are matched with each other. */
  const fills: Readonly<Record<string, readonly [orders: number, matched: number]>> = {
    listing: [1, 0],
    offer: [2, 1],
    collectionOffer: [1, 0],
    bundle: [1, 0],
    mixedBundle: [1, 0],
    partialFill: [1, 0],
    privateSale: [2, 1],
    sweep: [2, 0],
    routedSale: [1, 0],
  };

  it('knows nine kinds of sale', () => expect(script.kinds).toEqual(Object.keys(fills)));

  it.each(Object.entries(fills))('sells by %s as it says', async (kind, [orders, matched]) => {
    const trades = await script.sell(script.kinds.find((one) => one === kind) ?? 'listing');
    const [first] = trades;
    expect(trades).not.toEqual([]);
    const receipt = await devnet.client.getTransactionReceipt({ hash: first?.transactionHash ?? '0x' });
    expect(eventsOf(receipt, market.seaport, 'OrderFulfilled')).toHaveLength(orders);
    expect(eventsOf(receipt, market.seaport, 'OrdersMatched')).toHaveLength(matched);
    for (const trade of trades) {
      expect([trade.blockHash, trade.transactionIndex]).toEqual([receipt.blockHash, receipt.transactionIndex]);
      expect(trade.seller).not.toBe(trade.buyer);
      await expectHeldByBuyer(trade);
    }
    const orderPrices = kind === 'mixedBundle' ? trades.slice(1) : trades;
    const total = orderPrices.reduce((sum, { price }) => sum + BigInt(price), 0n);
    expect(total).toBeGreaterThan(0n);
    if (first !== undefined) expect(await paidBy(first.buyer, receipt, first.paymentToken)).toBe(total);
  });

  it('moves tokens without selling them', async () => {
    const before = await script.expectedTrades();
    const [from, owned] = [await devnet.client.getBlockNumber({ cacheTime: 0 }), market.cats.address];
    await script.moveAround();
    const logs = await devnet.client.getLogs({ fromBlock: from + 1n });
    expect(new Set(logs.map((log) => parseAddress(log.address)))).toEqual(
      new Set([owned, market.prints.address, market.founders.address]),
    );
    expect(await script.expectedTrades()).toEqual(before);
  });

  it('forgets the trades that a reorganisation takes away, and goes on', async () => {
    const before = await script.expectedTrades();
    const [lost] = await script.sell('listing');
    expect(await script.expectedTrades()).toEqual([...before, lost]);
    await devnet.reorg(2);
    expect(await script.expectedTrades()).toEqual(before);
    const [next] = await script.sell('listing');
    await script.moveAround();
    expect(await script.expectedTrades()).toEqual([...before, next]);
  });
});
