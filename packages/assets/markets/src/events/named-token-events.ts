import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { addressAt, bigIntAt } from '@chainstead/events/abi';
import { type EventLog, eventLayout, topicAddress } from './event-layout.ts';
import type { SwapEvent } from './pool-event.ts';
import type { PoolEventDecoder } from './pool-event-decoder.ts';

export const namedTokenEvents: readonly PoolEventDecoder[] = [
  {
    event: eventLayout('LOG_SWAP(address,address,address,uint256,uint256)', 4, 2),
    decode: (log) => namedSwap(log, topicAddress(log, 2), topicAddress(log, 3), [0, 1]),
  },
  coinSwap('TokenExchange(address,int128,uint256,int128,uint256)', 4, [1, 3]),
  coinSwap('TokenExchangeUnderlying(address,int128,uint256,int128,uint256)', 4, [1, 3]),
  coinSwap('TokenExchange(address,uint256,uint256,uint256,uint256)', 4, [1, 3]),
  coinSwap('TokenExchange(address,uint256,uint256,uint256,uint256,uint256,uint256)', 6, [1, 3]),
  coinSwap('TokenSwap(address,uint256,uint256,uint128,uint128)', 4, [0, 1]),
  {
    event: eventLayout('DODOSwap(address,address,uint256,uint256,address,address)', 1, 6),
    decode: (log) => namedSwap(log, addressAt(log.data, 0), addressAt(log.data, 1), [2, 3]),
  },
  {
    event: eventLayout('Conversion(address,address,address,uint256,uint256,int256)', 4, 3),
    decode: (log) => namedSwap(log, topicAddress(log, 1), topicAddress(log, 2), [0, 1]),
  },
  {
    event: eventLayout(
      'Swapped(address,address,address,address,uint256,uint256,uint256,uint256,uint256,address)',
      4,
      7,
    ),
    decode: (log) => namedSwap(log, topicAddress(log, 3), addressAt(log.data, 0), [1, 2]),
  },
  {
    event: eventLayout('TokenPurchase(address,uint256,uint256)', 4, 0),
    decode: (log) => exchangeSwap(log, ZERO_ADDRESS, null),
  },
  {
    event: eventLayout('EthPurchase(address,uint256,uint256)', 4, 0),
    decode: (log) => exchangeSwap(log, null, ZERO_ADDRESS),
  },
];

function coinSwap(signature: string, words: number, places: readonly [number, number]): PoolEventDecoder {
  return {
    event: eventLayout(signature, 2, words),
    decode: (log) => swap(log, null, null, bigIntAt(log.data, places[0]), bigIntAt(log.data, places[1])),
  };
}

function namedSwap(
  log: EventLog,
  tokenIn: Address | null,
  tokenOut: Address | null,
  [placeIn, placeOut]: readonly [number, number],
): SwapEvent | null {
  if (tokenIn === null || tokenOut === null) return null;
  return swap(log, tokenIn, tokenOut, bigIntAt(log.data, placeIn), bigIntAt(log.data, placeOut));
}

/** Uniswap v1: both amounts are topics, one of the native token. */
function exchangeSwap(log: EventLog, tokenIn: Address | null, tokenOut: Address | null): SwapEvent | null {
  const [, , amountIn, amountOut] = log.topics;
  if (amountIn === undefined || amountOut === undefined) return null;
  return swap(log, tokenIn, tokenOut, BigInt(amountIn), BigInt(amountOut));
}

function swap(
  log: EventLog,
  tokenIn: Address | null,
  tokenOut: Address | null,
  amountIn: bigint,
  amountOut: bigint,
): SwapEvent {
  const amounts = { of: 'tokens', tokenIn, tokenOut, amountIn, amountOut } as const;
  return { kind: 'swap', pool: log.address, amounts, state: null };
}
