/** Swaps and liquidity changes as the node's logs have them, decoded with the ABIs of the npm packages. */
import { type Address, type Hex, parseAddress } from '@chainstead/core';
import { type Devnet, readExchangeArtifact } from '@chainstead/testkit';
import { type Log, parseEventLogs } from 'viem';

/** A row of `swaps`. Numbers are decimal digits. */
export interface ExpectedSwap {
  readonly block: number;
  readonly log: number;
  readonly hash: Hex;
  readonly pool: Hex;
  readonly kind: number;
  readonly amount0: string | null;
  readonly amount1: string | null;
  readonly lower: number | null;
  readonly upper: number | null;
  readonly liquidity: string | null;
}

/** A pool that emitted an event in a block. */
export interface TouchedPool {
  readonly pool: Hex;
  readonly block: number;
}

/** The markets of a devnet. */
export interface MarketLogs {
  readonly swaps: readonly ExpectedSwap[];
  /** Once per event. Also tokens: they have some of the events of a pair. */
  readonly touched: readonly TouchedPool[];
  /** Pools with a creation event, by the number of the first one's block. */
  readonly created: ReadonlyMap<Hex, number>;
  /** Pools with a price, and all pairs of v2. */
  readonly usable: ReadonlySet<Hex>;
}

type Values = Readonly<Record<string, bigint | number | string>>;
type Decoded = Partial<Omit<ExpectedSwap, 'kind'>> & Pick<ExpectedSwap, 'kind'>;

const whole = { lower: null, upper: null, liquidity: null };
const text = (value: unknown, sign = 1n): string => String(sign * BigInt(String(value)));

/** Events by contract and name. v4 counts amounts from the side of the trader. */
const DECODERS: Readonly<Record<string, (values: Values) => Decoded>> = {
  'UniswapV2Pair Swap': ({ amount0In, amount0Out, amount1In, amount1Out }) => ({
    kind: 0,
    amount0: String(BigInt(amount0In ?? 0) - BigInt(amount0Out ?? 0)),
    amount1: String(BigInt(amount1In ?? 0) - BigInt(amount1Out ?? 0)),
  }),
  'UniswapV2Pair Mint': ({ amount0, amount1 }) => ({ kind: 1, amount0: text(amount0), amount1: text(amount1) }),
  'UniswapV2Pair Burn': ({ amount0, amount1 }) => ({
    kind: 2,
    amount0: text(amount0, -1n),
    amount1: text(amount1, -1n),
  }),
  'UniswapV3Pool Swap': ({ amount0, amount1 }) => ({ kind: 0, amount0: text(amount0), amount1: text(amount1) }),
  'UniswapV3Pool Mint': (values) => ({ kind: 1, ...rangeOf(values, values.amount, 1n) }),
  'UniswapV3Pool Burn': (values) => ({ kind: 2, ...rangeOf(values, values.amount, -1n) }),
  'PancakeV3Pool Swap': ({ amount0, amount1 }) => ({ kind: 0, amount0: text(amount0), amount1: text(amount1) }),
  'PoolManager Swap': ({ amount0, amount1 }) => ({
    kind: 0,
    amount0: text(amount0, -1n),
    amount1: text(amount1, -1n),
  }),
  'PoolManager ModifyLiquidity': (values) => ({
    ...rangeOf(values, values.liquidityDelta, 1n),
    kind: BigInt(values.liquidityDelta ?? 0) > 0n ? 1 : 2,
    amount0: null,
    amount1: null,
  }),
};

function rangeOf({ tickLower, tickUpper, amount0, amount1 }: Values, liquidity: unknown, sign: bigint) {
  return {
    ...{ lower: Number(tickLower), upper: Number(tickUpper), liquidity: text(liquidity, sign) },
    ...{ amount0: text(amount0 ?? 0, sign), amount1: text(amount1 ?? 0, sign) },
  };
}

/** PancakeSwap and Algebra have the events of Uniswap v3, except these swaps and creations. */
const CONTRACTS = [
  ...(['UniswapV2Factory', 'UniswapV2Pair', 'UniswapV3Factory', 'UniswapV3Pool', 'PoolManager'] as const),
  ...(['PancakeV3Pool', 'AlgebraFactory'] as const),
];
const CREATIONS = /Factory (?:Pair|Pool)(?:Created)?$|^PoolManager Initialize$/;
/** Later blocks are read again each time: a reorg may have replaced them. */
const UNSETTLED = 64;

/** Returns a function that reads all blocks of the node. */
export function createMarketLogReader({ client }: Devnet): () => Promise<MarketLogs> {
  let settled: MarketLogs = { swaps: [], touched: [], created: new Map(), usable: new Set() };
  let next = 0;

  const read = async (from: number, to?: number): Promise<MarketLogs> =>
    decodeLogs(
      await client.getLogs({
        fromBlock: BigInt(from),
        ...(to === undefined ? {} : { toBlock: BigInt(to) }),
      }),
    );

  return async () => {
    const last = Number((await client.getBlock()).number) - UNSETTLED;
    if (last >= next + UNSETTLED) {
      settled = joined(settled, await read(next, last));
      next = last + 1;
    }
    return joined(settled, await read(next));
  };
}

function joined(earlier: MarketLogs, later: MarketLogs): MarketLogs {
  return {
    swaps: [...earlier.swaps, ...later.swaps],
    touched: [...earlier.touched, ...later.touched],
    created: new Map([...earlier.created, ...later.created]),
    usable: new Set([...earlier.usable, ...later.usable]),
  };
}

async function decodeLogs(logs: Log[]): Promise<MarketLogs> {
  const swaps: ExpectedSwap[] = [];
  const touched: TouchedPool[] = [];
  const created = new Map<Hex, number>();
  const usable = new Set<Hex>();
  for (const name of CONTRACTS) {
    const { abi } = await readExchangeArtifact(name);
    for (const { eventName, args, address, ...log } of parseEventLogs({ abi, logs })) {
      // An event with an unnamed value, `PairCreated`, comes as a list.
      const values = (Array.isArray(args) ? { pair: args[2] } : Object(args)) as Values;
      const block = Number(log.blockNumber);
      const pool =
        name === 'PoolManager' ? (values.id as Hex) : parseAddress(values.pair ?? values.pool ?? address);
      const event = `${name} ${eventName}`;
      touched.push({ pool, block });
      if (CREATIONS.test(event)) created.set(pool, block);
      if (/PairCreated$|Initialize$/.test(event)) usable.add(pool);
      const decoded = DECODERS[event]?.(values);
      if (decoded === undefined) continue;
      const { amount0 = null, amount1 = null } = decoded;
      swaps.push({
        ...{
          block,
          log: log.logIndex,
          hash: log.transactionHash ?? '0x',
          pool,
          ...whole,
          ...decoded,
          amount0,
          amount1,
        },
      });
    }
  }
  return { swaps: swaps.toSorted((a, b) => a.block - b.block || a.log - b.log), touched, created, usable };
}

/** Senders of transactions, by hash. */
export async function readSenders({ client }: Devnet, hashes: Iterable<Hex>): Promise<ReadonlyMap<Hex, Address>> {
  const senders = new Map<Hex, Address>();
  for (const hash of new Set(hashes))
    senders.set(hash, parseAddress((await client.getTransaction({ hash })).from));
  return senders;
}
