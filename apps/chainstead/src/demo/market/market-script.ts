import { parseAddress } from '@chainstead/core';
import type { Devnet } from '../devnet/devnet.ts';
import { type DeployedContract, FOUNDERS, type Market } from './market.ts';
import { MARKET_SALES, type MarketSale } from './market-sales.ts';
import { type ExpectedTrade, openStall } from './market-stall.ts';

export interface MarketScript {
  readonly kinds: readonly MarketSale[];
  sell(kind: MarketSale): Promise<ExpectedTrade[]>;
  moveAround(): Promise<void>;
  answerEtherPrice(dollars: number): Promise<void>;
  expectedTrades(): Promise<ExpectedTrade[]>;
}

const PRICE_STEP = 10n ** 15n;
const PRICES = 40n;
const FEED_UNITS = 1e8;

const ANSWER_GAS = 200_000n;

/** Each sale mints its own ids: reorgs don't stop the script. */
export function createMarketScript(devnet: Devnet, market: Market): MarketScript {
  let last = 0n;
  let sales = 0;
  const next = (): bigint => ++last;
  const made: ExpectedTrade[] = [];
  return {
    kinds: Object.keys(MARKET_SALES) as MarketSale[],
    async sell(kind) {
      const [seller, buyer] = [at(market.traders, sales), at(market.traders, sales + 1)];
      const price = ((BigInt(sales) % PRICES) + 1n) * PRICE_STEP;
      sales += 1;
      const trades = await MARKET_SALES[kind](openStall({ devnet, market, seller, buyer, price, next }));
      made.push(...trades);
      return trades;
    },
    async moveAround() {
      for (const move of moves(devnet, market, next)) await move();
    },
    async answerEtherPrice(dollars) {
      const answer = BigInt(Math.round(dollars * FEED_UNITS));
      // A gas estimate in the same second omits writing the time, and is too low.
      await devnet.send({ ...market.etherFeed, functionName: 'answer', args: [answer], gas: ANSWER_GAS });
    },
    async expectedTrades() {
      const head = await devnet.client.getBlockNumber({ cacheTime: 0 });
      const hashes = await Promise.all(
        made.map(async ({ blockNumber }) => {
          if (BigInt(blockNumber) > head) return null;
          return (await devnet.client.getBlock({ blockNumber: BigInt(blockNumber) })).hash;
        }),
      );
      return made.filter(({ blockHash }, index) => hashes[index] === blockHash);
    },
  };
}

function moves(devnet: Devnet, { cats, prints, founders, traders }: Market, next: () => bigint) {
  const [cat, doomed, founder, print, other] = [next(), next(), next(), next(), next()];
  const [from, to] = [at(traders, Number(cat)), at(traders, Number(cat) + 1)];
  const send = (to: DeployedContract, functionName: string, args: readonly unknown[], sender = from) =>
    devnet.send({ ...to, functionName, args, from: sender });
  return [
    () => send(cats, 'mint', [from, cat]),
    () => send(cats, 'transferFrom', [from, to, cat]),
    () => send(cats, 'transferFrom', [to, to, cat], to),
    () => send(cats, 'mint', [from, doomed]),
    () => send(cats, 'burn', [doomed]),
    () => send(prints, 'mintBatch', [from, [print, other], [7n, 9n]]),
    () => send(prints, 'safeTransferFrom', [from, to, print, 2n, '0x']),
    () => send(prints, 'safeBatchTransferFrom', [from, to, [print, other], [5n, 1n], '0x']),
    () => send(prints, 'burn', [other, 3n]),
    async () => {
      const id = founder % BigInt(FOUNDERS);
      const owned = await devnet.client.readContract({ ...founders, functionName: 'ownerOf', args: [id] });
      const owner = parseAddress(owned);
      await send(founders, 'transferFrom', [owner, to, id], owner);
    },
  ];
}

export function at<T>(list: readonly T[], index: number): T {
  const found = list[index % list.length];
  if (found === undefined) throw new RangeError('The list is empty');
  return found;
}
