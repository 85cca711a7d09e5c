/** A Liquidity Book pair by the logs of its contract, decoded and stored as the sync engine does. */
import type { Chain } from '@chainstead/chains';
import { type Address, type Log, parseHash, ZERO_ADDRESS } from '@chainstead/core';
import { type Database, hexBytes, sql } from '@chainstead/db';
import { binChanges, poolStates } from '@chainstead/markets/datasets';
import { exchangesOf, poolKey } from '@chainstead/markets/requests';
import { exampleLog, seedPools, storeRows } from '@chainstead/markets/testing';
import { addressOf, seedBuilt } from '@chainstead/testkit';

/** Bin of price 1. */
export const MIDDLE = 2 ** 23;
export const BINS_BUILT = { name: 'bin-reserves', version: 1 };

/** Base units of token X and token Y in a bin. */
type BinTokens = readonly [bin: number, x: bigint, y: bigint];
type PairLog = ReturnType<typeof exampleLog>;

export interface BinPair {
  readonly pool: Address;
  /** Token X and token Y. */
  readonly tokens: readonly [Address, Address];
  /** Default: 2.1. */
  readonly version?: '2.0' | '2.1' | '2.2';
  /** Default: one percent. */
  readonly binStep?: number;
  /** Block of the creation event; null: it is not indexed. */
  readonly createdAt: number | null;
}

/** Stores a proven pair without tokens, and its creation. The sums of bins are built. */
export async function seedBinPair(database: Database, chain: Chain, pair: BinPair): Promise<void> {
  const { pool, tokens, version = '2.1', binStep = 100, createdAt } = pair;
  const exchange = `Trader Joe (Liquidity Book ${version})`;
  const found = exchangesOf(chain).all.find((one) => one.exchange.name === exchange);
  const factory = found?.deployment.factory ?? ZERO_ADDRESS;
  await seedPools(database, chain, [{ pool, tokens, exchange, factory, tickSpacing: binStep }]);
  await seedBuilt(database, chain.id, BINS_BUILT);
  if (createdAt === null) return;
  await database.query(
    sql`INSERT INTO pool_creations (pool_key, chain_id, block_number, transaction_index, log_index, pool, factory, transaction_hash)
     VALUES (${poolKey(pool)}, ${chain.id}, ${createdAt}, 0, 0, ${hexBytes(pool)}, ${hexBytes(factory)}, sha256('x'))`,
  );
}

/** Stores the rows of one block with these logs. */
export async function storeBinBlock(
  database: Database,
  chain: Chain,
  blockNumber: number,
  pairLogs: readonly PairLog[],
): Promise<void> {
  const logs = pairLogs.map((log, logIndex): Log => ({ ...log, ...PLACE, blockNumber, logIndex }));
  const context = { chain, timestampOf: () => blockNumber };
  await storeRows(database, chain, binChanges, binChanges.decode(logs, context));
  await storeRows(database, chain, poolStates, poolStates.decode(logs, context));
}

const HASH = parseHash(`0x${'77'.repeat(32)}`);
const PLACE = { transactionIndex: 0, transactionHash: HASH, blockHash: HASH, blockTimestamp: null };
const PARTIES = { sender: addressOf(1), recipient: addressOf(2), to: addressOf(2) };

export function deposited(pool: Address, bins: readonly BinTokens[]): PairLog {
  return ofManyBins(pool, 'DepositedToBins', bins);
}

export function withdrawn(pool: Address, bins: readonly BinTokens[]): PairLog {
  return ofManyBins(pool, 'WithdrawnFromBins', bins);
}

function ofManyBins(pool: Address, name: string, bins: readonly BinTokens[]): PairLog {
  const amounts = { ids: bins.map(([bin]) => BigInt(bin)), amounts: bins.map(([, x, y]) => packed(x, y)) };
  return exampleLog(
    `${name}(address indexed sender, address indexed to, uint256[] ids, bytes32[] amounts)`,
    { ...PARTIES, ...amounts },
    pool,
  );
}

/** A swap in one bin, which is active afterwards. Amounts into the bin are positive. */
export function swapped(pool: Address, [id, x, y]: BinTokens): PairLog {
  const part = (isIn: boolean) => packed(...([x, y].map((amount) => sizeOf(amount, isIn)) as [bigint, bigint]));
  return exampleLog(
    'Swap(address indexed sender, address indexed to, uint24 id, bytes32 amountsIn, bytes32 amountsOut, uint24 volatilityAccumulator, bytes32 totalFees, bytes32 protocolFees)',
    {
      ...{ ...PARTIES, id, amountsIn: part(true), amountsOut: part(false), volatilityAccumulator: 0 },
      ...{ totalFees: packed(0n, 0n), protocolFees: packed(0n, 0n) },
    },
    pool,
  );
}

/** The same as version 2.0 logs it. */
export function swapped20(pool: Address, [id, x, y]: BinTokens): PairLog {
  const swapForY = x > 0n;
  const [amountIn, amountOut] = swapForY ? [x, -y] : [y, -x];
  return exampleLog(
    'Swap(address indexed sender, address indexed recipient, uint256 indexed id, bool swapForY, uint256 amountIn, uint256 amountOut, uint256 volatilityAccumulated, uint256 fees)',
    { ...PARTIES, id, swapForY, amountIn, amountOut, volatilityAccumulated: 0n, fees: 5n },
    pool,
  );
}

export function deposited20(pool: Address, [id, amountX, amountY]: BinTokens): PairLog {
  return exampleLog(
    'DepositedToBin(address indexed sender, address indexed recipient, uint256 indexed id, uint256 amountX, uint256 amountY)',
    { ...PARTIES, id, amountX, amountY },
    pool,
  );
}

function sizeOf(amount: bigint, isIn: boolean): bigint {
  const size = isIn ? amount : -amount;
  return size > 0n ? size : 0n;
}

/** Both tokens in one word: X in the low half. */
function packed(x: bigint, y: bigint): string {
  return `0x${((y << 128n) + x).toString(16).padStart(64, '0')}`;
}
