/** Changes of bins as pairs of each version emit them, and as hostile contracts do. */
import { addressOf } from '@chainstead/testkit';
import { describe, expect, test } from 'vitest';
import { exampleLog } from '../testing/example-log.ts';
import { BIN_CHANGE_TOPICS, decodeBinChanges } from './bin-events.ts';
import type { EventLog } from './pool-event.ts';

const [PAIR, SENDER, RECEIVER] = [addressOf(0xb1), addressOf(1), addressOf(2)];
const ID = 8_388_600;
const PARTIES = { sender: SENDER, recipient: RECEIVER, to: RECEIVER, receiver: RECEIVER, from: SENDER };

/** Both tokens in one word: X in the low half. */
const packed = (x: bigint, y: bigint): string => `0x${((y << 128n) + x).toString(16).padStart(64, '0')}`;

const SWAP_1 =
  'Swap(address indexed sender, address indexed recipient, uint256 indexed id, bool swapForY, uint256 amountIn, uint256 amountOut, uint256 volatilityAccumulated, uint256 fees)';
const SWAP_2 =
  'Swap(address indexed sender, address indexed to, uint24 id, bytes32 amountsIn, bytes32 amountsOut, uint24 volatilityAccumulator, bytes32 totalFees, bytes32 protocolFees)';
const single = (name: string) =>
  `${name}(address indexed sender, address indexed recipient, uint256 indexed id, uint256 amountX, uint256 amountY)`;
const many = (name: string) =>
  `${name}(address indexed sender, address indexed to, uint256[] ids, bytes32[] amounts)`;
const FLASH =
  'FlashLoan(address indexed sender, address indexed receiver, uint24 activeId, bytes32 amounts, bytes32 totalFees, bytes32 protocolFees)';

const log = (declaration: string, args: Readonly<Record<string, unknown>>): EventLog =>
  exampleLog(declaration, { ...PARTIES, ...args }, PAIR);
const changesOf = (of: EventLog) =>
  decodeBinChanges(of).map(({ bin, amount0, amount1 }) => [bin, amount0, amount1]);

test('topics are those of the contracts', () => {
  expect(BIN_CHANGE_TOPICS).toHaveLength(7);
  expect(BIN_CHANGE_TOPICS.slice(0, 2)).toEqual([
    '0xc528cda9e500228b16ce84fadae290d9a49aecb17483110004c5af0a07f6fd73',
    // DepositedToBin: also in the bindings of public bots.
    '0x4216cc3bd0c40a90259d92f800c06ede5c47765f41a488072b7e7104a1f95841',
  ]);
  expect(BIN_CHANGE_TOPICS).toContain('0xad7d6f97abf51ce18e17a38f4d70e975be9c0708474987bb3e26ad21bd93ca70');
});

describe('version 2.0', () => {
  const swap = { id: ID, amountIn: 100n, amountOut: 90n, volatilityAccumulated: 7n, fees: 3n };

  test('adds the amount in without the fee', () => {
    expect(changesOf(log(SWAP_1, { ...swap, swapForY: true }))).toEqual([[ID, 100n, -90n]]);
    expect(changesOf(log(SWAP_1, { ...swap, swapForY: false }))).toEqual([[ID, -90n, 100n]]);
  });

  test('changes one bin by each event', () => {
    const amounts = { id: ID, amountX: 5n, amountY: 6n };
    expect(changesOf(log(single('DepositedToBin'), amounts))).toEqual([[ID, 5n, 6n]]);
    expect(changesOf(log(single('WithdrawnFromBin'), amounts))).toEqual([[ID, -5n, -6n]]);
  });
});

describe('versions 2.1 and 2.2', () => {
  test('add the amounts in, which are without the fee of the protocol', () => {
    const swap = {
      ...{ id: ID, amountsIn: packed(100n, 0n), amountsOut: packed(0n, 90n), volatilityAccumulator: 7 },
      ...{ totalFees: packed(4n, 0n), protocolFees: packed(1n, 0n) },
    };
    expect(changesOf(log(SWAP_2, swap))).toEqual([[ID, 100n, -90n]]);
  });

  test('change many bins at once, also one twice', () => {
    const amounts = {
      ids: [ID, ID + 1, ID],
      amounts: [packed(0n, 7n), packed(2n ** 128n - 1n, 0n), packed(0n, 1n)],
    };
    expect(changesOf(log(many('DepositedToBins'), amounts))).toEqual([
      [ID, 0n, 7n],
      [ID + 1, 2n ** 128n - 1n, 0n],
      [ID, 0n, 1n],
    ]);
    expect(changesOf(log(many('WithdrawnFromBins'), amounts))).toEqual([
      [ID, 0n, -7n],
      [ID + 1, 1n - 2n ** 128n, 0n],
      [ID, 0n, -1n],
    ]);
    expect(changesOf(log(many('DepositedToBins'), { ids: [], amounts: [] }))).toEqual([]);
  });

  test('leave fees of flash loans in the active bin, without those of the protocol', () => {
    const loan = {
      ...{ activeId: ID, amounts: packed(1_000n, 2_000n) },
      ...{ totalFees: packed(10n, 20n), protocolFees: packed(1n, 20n) },
    };
    expect(changesOf(log(FLASH, loan))).toEqual([[ID, 9n, 0n]]);
  });
});

describe('a hostile log', () => {
  const deposit = log(many('DepositedToBins'), { ids: [ID, ID + 1], amounts: [packed(1n, 1n), packed(2n, 2n)] });
  const withWord = (place: number, value: bigint): EventLog => {
    const digits = value.toString(16).padStart(64, '0');
    const start = 2 + 64 * place;
    return { ...deposit, data: `0x${deposit.data.slice(2, start)}${digits}${deposit.data.slice(start + 64)}` };
  };

  test.each([
    ['an offset of the bins', withWord(0, 96n)],
    ['an offset of the amounts', withWord(1, 64n)],
    ['fewer bins', withWord(2, 1n)],
    ['more bins than data', withWord(2, 2n ** 200n)],
    ['fewer amounts', withWord(5, 1n)],
    ['no data', { ...deposit, data: '0x' } as const],
    ['part of a word', { ...deposit, data: `${deposit.data}00` } as EventLog],
    ['no topics of its parties', { ...deposit, topics: deposit.topics.slice(0, 1) }],
    ['no topics', { ...deposit, topics: [] }],
    ['an amount beyond its type', log(single('DepositedToBin'), { id: ID, amountX: 2n ** 128n, amountY: 0n })],
    ['a bin beyond its type', log(single('DepositedToBin'), { id: 2n ** 24n, amountX: 1n, amountY: 0n })],
  ])('with %s changes nothing', (_, hostile) => {
    expect(decodeBinChanges(hostile)).toEqual([]);
  });

  test('with a bin beyond its type changes the others', () => {
    expect(changesOf(withWord(3, 2n ** 24n))).toEqual([[ID + 1, 2n, 2n]]);
  });
});
