import type { Address } from '@chainstead/core';
import { addressOf } from '@chainstead/testkit';
import { describe, expect, test } from 'vitest';
import { beneficiariesOf, type TokenFlow } from './beneficiary.ts';

const [usdc, weth, pepe] = [addressOf(0x11), addressOf(0x12), addressOf(0x13)];
const [alice, bob, router, bundler] = [addressOf(0xa1), addressOf(0xb0), addressOf(0x30), addressOf(0x40)];
const [pool, second] = [addressOf(0x51), addressOf(0x52)];

const move = (token: Address, from: Address, to: Address, value: bigint): TokenFlow => ({
  token,
  from,
  to,
  value,
});
const of = (
  swaps: Parameters<typeof beneficiariesOf>[0],
  moves: readonly TokenFlow[],
  excluded: Address[] = [],
) => beneficiariesOf(swaps, moves, new Set(excluded));

const SWAP = { pool, sold: usdc, bought: weth };

describe('the beneficiary of a swap', () => {
  test('gave what was sold and received what was bought, directly or through a router', () => {
    expect(of([SWAP], [move(usdc, alice, pool, 10n), move(weth, pool, alice, 1n)])).toEqual([alice]);
    const routed = [
      move(usdc, alice, router, 10n),
      move(usdc, router, pool, 10n),
      move(weth, pool, router, 1n),
      move(weth, router, alice, 1n),
    ];
    expect(of([SWAP], routed)).toEqual([alice]);
  });

  test('may pay by the value of the transaction', () => {
    const bought = { pool, sold: weth, bought: pepe };
    const moves = [move(weth, alice, router, 1n), move(weth, router, pool, 1n), move(pepe, pool, alice, 99n)];
    expect(of([bought], moves)).toEqual([alice]);
  });

  test('is the account at both ends of a route', () => {
    const route = [SWAP, { pool: second, sold: weth, bought: pepe }];
    const moves = [move(usdc, alice, pool, 10n), move(weth, pool, second, 1n), move(pepe, second, alice, 99n)];
    expect(of(route, moves)).toEqual([alice, alice]);
  });

  test('is none if the bought token went to another account, or was paid out as native tokens', () => {
    expect(of([SWAP], [move(usdc, alice, pool, 10n), move(weth, pool, bob, 1n)])).toEqual([null]);
    expect(of([SWAP], [move(usdc, alice, pool, 10n), move(weth, pool, router, 1n)])).toEqual([null]);
  });

  test('is none if several accounts traded the same tokens', () => {
    const moves = [alice, bob].flatMap((account) => [
      move(usdc, account, pool, 10n),
      move(weth, pool, account, 1n),
    ]);
    expect(of([SWAP], moves)).toEqual([null]);
  });

  test('is not the sender of the transaction who moves nothing, and not one who got everything back', () => {
    const moves = [
      move(usdc, alice, pool, 10n),
      move(weth, pool, alice, 1n),
      move(usdc, bundler, router, 5n),
      move(usdc, router, bundler, 5n),
    ];
    expect(of([SWAP], moves)).toEqual([alice]);
  });

  test('is never a pool of the transaction, nor an excluded vault', () => {
    // The second pool trades the other way: it gave USDC and received WETH.
    const swaps = [SWAP, { pool: second, sold: weth, bought: usdc }];
    const moves = [
      move(usdc, second, router, 12n),
      move(usdc, router, pool, 10n),
      move(weth, pool, router, 1n),
      move(weth, router, second, 1n),
    ];
    expect(of(swaps, moves)).toEqual([null, null]);
    expect(of([SWAP], [move(usdc, bob, pool, 10n), move(weth, pool, bob, 1n)], [bob])).toEqual([null]);
  });
});
