import { type DefinedEvent, defineEvent } from '@chainstead/events/decoding';
import { type PoolEventDecoder, poolEvent, type Reserves } from './pool-event.ts';

const FLOWS = 'uint256 in0, uint256 in1, uint256 out0, uint256 out1';
const AMOUNTS = 'uint256 amount0, uint256 amount1';

export const reserveEvents: readonly PoolEventDecoder[] = [
  swapOf(defineEvent(`event Swap(address indexed, ${FLOWS}, address indexed)`)),
  swapOf(defineEvent(`event Swap(address indexed, address indexed, ${FLOWS})`)),
  swapOf(defineEvent(`event Swap(address indexed, ${FLOWS}, address indexed, uint256)`)),
  syncOf(defineEvent('event Sync(uint112 reserve0, uint112 reserve1)')),
  syncOf(defineEvent('event Sync(uint256 reserve0, uint256 reserve1)')),
  liquidityOf(defineEvent(`event Mint(address indexed, ${AMOUNTS})`), 'add'),
  liquidityOf(defineEvent(`event Burn(address indexed, ${AMOUNTS}, address indexed)`), 'remove'),
];

/** Net amounts: refunds and flash swaps move a token in both directions. */
function swapOf(
  event: DefinedEvent<Readonly<Record<'in0' | 'in1' | 'out0' | 'out1', bigint>>>,
): PoolEventDecoder {
  return poolEvent(event, {}, ({ in0, in1, out0, out1 }, pool) => {
    const amounts = { of: 'sides', amount0: in0 - out0, amount1: in1 - out1 } as const;
    return { kind: 'swap', pool, amounts, state: null };
  });
}

function syncOf(event: DefinedEvent<Omit<Reserves, 'of'>>): PoolEventDecoder {
  return poolEvent(event, { hasState: true }, (reserves, pool) => ({
    kind: 'state',
    pool,
    state: { of: 'reserves', ...reserves },
  }));
}

function liquidityOf(
  event: DefinedEvent<Readonly<Record<'amount0' | 'amount1', bigint>>>,
  change: 'add' | 'remove',
): PoolEventDecoder {
  const sign = change === 'add' ? 1n : -1n;
  return poolEvent(event, {}, ({ amount0, amount1 }, pool) => ({
    kind: 'liquidity',
    pool,
    change,
    amounts: { of: 'sides', amount0: sign * amount0, amount1: sign * amount1 },
    range: null,
  }));
}
