import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { type DefinedEvent, defineEvent } from '@chainstead/events/decoding';
import { type PoolEventDecoder, poolEvent } from './pool-event.ts';

const AMOUNTS = 'uint256 amountIn, uint256 amountOut';
const INDEXED_TOKENS = 'address indexed tokenIn, address indexed tokenOut';

export const namedTokenEvents: readonly PoolEventDecoder[] = [
  swapOf(defineEvent(`event LOG_SWAP(address indexed, ${INDEXED_TOKENS}, ${AMOUNTS})`)),
  swapOf(
    defineEvent('event TokenExchange(address indexed, int128, uint256 amountIn, int128, uint256 amountOut)'),
  ),
  swapOf(
    defineEvent(
      'event TokenExchangeUnderlying(address indexed, int128, uint256 amountIn, int128, uint256 amountOut)',
    ),
  ),
  swapOf(
    defineEvent('event TokenExchange(address indexed, uint256, uint256 amountIn, uint256, uint256 amountOut)'),
  ),
  swapOf(
    defineEvent(
      'event TokenExchange(address indexed, uint256, uint256 amountIn, uint256, uint256 amountOut, uint256, uint256)',
    ),
  ),
  swapOf(defineEvent(`event TokenSwap(address indexed, ${AMOUNTS}, uint128, uint128)`)),
  swapOf(defineEvent(`event DODOSwap(address tokenIn, address tokenOut, ${AMOUNTS}, address, address)`)),
  swapOf(defineEvent(`event Conversion(${INDEXED_TOKENS}, address indexed, ${AMOUNTS}, int256)`)),
  swapOf(
    defineEvent(
      `event Swapped(address indexed, address indexed, address indexed tokenIn, address tokenOut, ${AMOUNTS}, uint256, uint256, uint256, address)`,
    ),
  ),
  // Uniswap v1: both amounts are topics, one of the native token.
  swapOf(
    defineEvent('event TokenPurchase(address indexed, uint256 indexed amountIn, uint256 indexed amountOut)'),
    {
      tokenIn: ZERO_ADDRESS,
    },
  ),
  swapOf(defineEvent('event EthPurchase(address indexed, uint256 indexed amountIn, uint256 indexed amountOut)'), {
    tokenOut: ZERO_ADDRESS,
  }),
];

interface SwapTokens {
  readonly tokenIn?: Address;
  readonly tokenOut?: Address;
}

interface SwapValues extends SwapTokens {
  readonly amountIn: bigint;
  readonly amountOut: bigint;
}

/** @param fixed tokens that the event does not name */
function swapOf(event: DefinedEvent<SwapValues>, fixed: SwapTokens = {}): PoolEventDecoder {
  const { tokenIn: native = null, tokenOut: bought = null } = fixed;
  return poolEvent(event, {}, ({ tokenIn = native, tokenOut = bought, amountIn, amountOut }, pool) => {
    const amounts = { of: 'tokens', tokenIn, tokenOut, amountIn, amountOut } as const;
    return { kind: 'swap', pool, amounts, state: null };
  });
}
