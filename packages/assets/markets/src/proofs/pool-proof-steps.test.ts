import { type Address, type Hex, keccak256Hex, ZERO_ADDRESS } from '@chainstead/core';
import { addressOf } from '@chainstead/testkit';
import {
  encodeAbiParameters,
  encodeFunctionData,
  encodeFunctionResult,
  parseAbi,
  parseAbiParameters,
} from 'viem';
import { describe, expect, test } from 'vitest';
import type { PoolId } from '../events/pool-event.ts';
import { withCustomExchanges } from '../exchanges/custom-exchanges.ts';
import { knownExchanges } from '../exchanges/exchanges-of-chain.ts';
import { type PoolVerdict, proofSteps } from './pool-proof-steps.ts';

const [token0, token1] = [addressOf(1), addressOf(2)];
const pool = addressOf(0x77);
const factory = addressOf(0xfac);

/** A contract that returns these values to calls of these declarations. */
type Contracts = readonly (readonly [
  at: Address,
  declaration: string,
  args: readonly unknown[],
  result: unknown,
])[];

/** Result of a proof on a chain with these contracts only: all other calls revert. */
function prove(
  chain: ReturnType<typeof knownExchanges>,
  contracts: Contracts,
  seen: { pool: PoolId; emitter: Address; tokens?: readonly [Address, Address] } = { pool, emitter: pool },
): { verdict: PoolVerdict; calls: number } {
  const results = new Map(
    contracts.map(([at, declaration, args, result]) => {
      const abi = parseAbi([`function ${declaration}`] as readonly string[]);
      return [`${at}${encodeFunctionData({ abi, args })}`, encodeFunctionResult({ abi, result })];
    }),
  );
  const proof = proofSteps({ tokens: null, ...seen }, chain);
  let calls = 0;
  for (let step = proof.next(); ; ) {
    if (step.done === true) return { verdict: step.value, calls };
    calls += step.value.length;
    step = proof.next(step.value.map(({ to, data }) => results.get(`${to}${data}`) ?? null));
  }
}

const custom = (family: string) => withCustomExchanges(5, [{ family, factory }]);
const HINTS = {
  factory: [pool, 'factory() view returns (address)', [], factory],
  token0: [pool, 'token0() view returns (address)', [], token0],
  token1: [pool, 'token1() view returns (address)', [], token1],
  stable: [pool, 'stable() view returns (bool)', [], true],
  fee: [pool, 'fee() view returns (uint24)', [], 500],
  tickSpacing: [pool, 'tickSpacing() view returns (int24)', [], 10],
} as const;
const TOKENS = [HINTS.factory, HINTS.token0, HINTS.token1] as const;

/** Family, getters of the pool, getter of the factory without its result, and facts. */
const FAMILIES: readonly [string, Contracts, (returned: Address) => Contracts[number], object][] = [
  [
    'v2',
    TOKENS,
    (one) => [factory, 'getPair(address, address) view returns (address)', [token0, token1], one],
    {},
  ],
  [
    'solidly-1',
    [HINTS.token0, HINTS.token1, HINTS.stable, [factory, 'isPair(address) view returns (bool)', [pool], true]],
    (one) => [factory, 'getPair(address, address, bool) view returns (address)', [token0, token1, true], one],
    { isStable: true },
  ],
  [
    'solidly-2',
    [...TOKENS, HINTS.stable],
    (one) => [factory, 'getPool(address, address, bool) view returns (address)', [token0, token1, true], one],
    { isStable: true },
  ],
  [
    'v3',
    [...TOKENS, HINTS.fee, HINTS.tickSpacing],
    (one) => [factory, 'getPool(address, address, uint24) view returns (address)', [token0, token1, 500], one],
    { fee: 500, tickSpacing: 10 },
  ],
  [
    'v3',
    [...TOKENS, HINTS.fee, HINTS.tickSpacing],
    (one) => [factory, 'getPool(address, address, int24) view returns (address)', [token0, token1, 10], one],
    { fee: null, tickSpacing: 10 },
  ],
  [
    'v3-kyber-elastic',
    [
      ...TOKENS,
      [pool, 'swapFeeUnits() view returns (uint24)', [], 40],
      [pool, 'tickDistance() view returns (int24)', [], 8],
    ],
    (one) => [factory, 'getPool(address, address, uint24) view returns (address)', [token0, token1, 40], one],
    { fee: 40, tickSpacing: 8 },
  ],
  [
    'slipstream',
    [...TOKENS, HINTS.tickSpacing],
    (one) => [factory, 'getPool(address, address, int24) view returns (address)', [token0, token1, 10], one],
    { fee: null, tickSpacing: 10 },
  ],
  [
    'algebra',
    TOKENS,
    (one) => [factory, 'poolByPair(address, address) view returns (address)', [token0, token1], one],
    {},
  ],
  [
    'lb-1',
    [
      HINTS.factory,
      [pool, 'tokenX() view returns (address)', [], token1],
      [pool, 'tokenY() view returns (address)', [], token0],
      [pool, 'feeParameters() view returns (uint16, uint16)', [], [25, 5000]],
    ],
    (one) => [factory, LB_GETTER, [token1, token0, 25n], [25, one, false, false]],
    { tokens: [token1, token0], tickSpacing: 25 },
  ],
  [
    'lb-2',
    [
      [pool, 'getFactory() view returns (address)', [], factory],
      [pool, 'getTokenX() view returns (address)', [], token1],
      [pool, 'getTokenY() view returns (address)', [], token0],
      [pool, 'getBinStep() view returns (uint16)', [], 25],
    ],
    (one) => [factory, LB_GETTER, [token1, token0, 25n], [25, one, false, false]],
    { tokens: [token1, token0], tickSpacing: 25 },
  ],
];
const LB_GETTER = 'getLBPairInformation(address, address, uint256) view returns (uint16, address, bool, bool)';

describe('the factory that a pool names', () => {
  test.each(FAMILIES)('%s proves it by its tokens and parameters', (family, hints, getter, facts) => {
    const { verdict } = prove(custom(family), [...hints, getter(pool)]);
    expect(verdict).toMatchObject({
      verdict: 'proven',
      proven: { pool, tokens: [token0, token1], hooks: null, deployment: { factory }, ...facts },
    });
  });

  test.each(FAMILIES)('%s disproves it if another pool has these', (family, hints, getter) => {
    expect(prove(custom(family), [...hints, getter(addressOf(0x78))]).verdict).toEqual({ verdict: 'disproved' });
    expect(prove(custom(family), hints).verdict).toEqual({ verdict: 'disproved' });
  });

  test('is none of the chain: one call', () => {
    const other = [pool, 'factory() view returns (address)', [], addressOf(0xbad)] as const;
    expect(prove(knownExchanges(1), [other])).toEqual({ verdict: { verdict: 'disproved' }, calls: 1 });
  });

  test('does not count if the events are of another contract', () => {
    const seen = { pool, emitter: addressOf(0x78) };
    expect(prove(custom('v2'), TOKENS, seen)).toEqual({ verdict: { verdict: 'disproved' }, calls: 0 });
  });

  test('is asked with the tokens that moved if the pool has no getters of them', () => {
    const getPair = [
      factory,
      'getPair(address, address) view returns (address)',
      [token0, token1],
      pool,
    ] as const;
    const seen = { pool, emitter: pool, tokens: [token0, token1] } as const;
    expect(prove(custom('v2'), [HINTS.factory, getPair]).verdict).toEqual({ verdict: 'disproved' });
    expect(prove(custom('v2'), [HINTS.factory, getPair], seen).verdict).toMatchObject({ verdict: 'proven' });
  });

  test('of Algebra Integral may have created it for a deployer that the pool does not return', () => {
    const poolByPair = (one: Address) =>
      [factory, 'poolByPair(address, address) view returns (address)', [token0, token1], one] as const;
    const integral = custom('algebra-integral');
    expect(prove(integral, [...TOKENS, poolByPair(pool)]).verdict.verdict).toBe('proven');
    expect(prove(integral, [...TOKENS, poolByPair(ZERO_ADDRESS)]).verdict).toMatchObject({
      verdict: 'undecided',
      exchange: { deployment: { factory } },
    });
  });
});

describe('a factory that recognizes its pools by address', () => {
  const coins = (declared: string, list: readonly Address[]) =>
    [factory, `get_coins(address) view returns (${declared})`, [pool], list] as const;

  test.each([
    ['address[4]', [token0, token1, ZERO_ADDRESS, ZERO_ADDRESS], 'proven'],
    ['address[4]', [ZERO_ADDRESS, ZERO_ADDRESS, ZERO_ADDRESS, ZERO_ADDRESS], 'disproved'],
    ['address[]', [token0, token1], 'proven'],
    ['address[]', [], 'disproved'],
  ])('Curve, %s %j', (declared, list, verdict) => {
    expect(prove(custom('curve'), [coins(declared, list)]).verdict.verdict).toBe(verdict);
    // Pools that name their factory.
    expect(prove(custom('curve'), [HINTS.factory, coins(declared, list)]).verdict.verdict).toBe(verdict);
  });

  test.each([
    [true, 'proven'],
    [false, 'disproved'],
  ])('Balancer v1, %s', (isPool, verdict) => {
    const isBPool = [factory, 'isBPool(address) view returns (bool)', [pool], isPool] as const;
    expect(prove(custom('balancer-1'), [isBPool]).verdict.verdict).toBe(verdict);
  });
});

describe('a contract that holds many pools', () => {
  const types = {
    v4: parseAbiParameters('address, address, uint24, int24, address'),
    infinity: parseAbiParameters('address, address, address, address, uint24, bytes32'),
  };
  const idOf = (encoded: Hex) => keccak256Hex(Buffer.from(encoded.slice(2), 'hex'));
  const hooks = addressOf(0xc0);

  test('of v4 has pools whose id is the hash of their key', () => {
    const chain = knownExchanges(1);
    const one = chain.all.find(({ exchange }) => exchange.family.name === 'v4');
    const manager = one?.deployment.factory ?? ZERO_ADDRESS;
    const reader = one?.deployment.keyReader ?? ZERO_ADDRESS;
    const key = [ZERO_ADDRESS, token1, 0x800000, -60, hooks] as const;
    const id = idOf(encodeAbiParameters(types.v4, key));
    const declaration = 'poolKeys(bytes25) view returns (address, address, uint24, int24, address)';
    const start: Hex = `0x${id.slice(2, 52)}`;
    const seen = { pool: id, emitter: manager };
    expect(prove(chain, [[reader, declaration, [start], key]], seen).verdict).toMatchObject({
      verdict: 'proven',
      proven: { pool: id, tokens: [ZERO_ADDRESS, token1], fee: 0x800000, tickSpacing: -60, hooks },
    });
    const forged = [ZERO_ADDRESS, token0, 0x800000, -60, hooks];
    for (const contracts of [[[reader, declaration, [start], forged] as const], []])
      expect(prove(chain, contracts, seen).verdict).toMatchObject({ verdict: 'undecided' });
    const withoutReader = withCustomExchanges(5, [{ family: 'v4', factory }]);
    expect(prove(withoutReader, [], { pool: id, emitter: factory })).toMatchObject({
      verdict: { verdict: 'undecided' },
      calls: 0,
    });
  });

  test.each([
    ['infinity', 60n << 16n, 60],
    ['infinity-bin', (1n << 40n) | (25n << 16n), 25],
  ])('of %s returns their keys', (family, parameters, tickSpacing) => {
    const word: Hex = `0x${parameters.toString(16).padStart(64, '0')}`;
    const key = [token0, token1, ZERO_ADDRESS, factory, 500, word] as const;
    const id = idOf(encodeAbiParameters(types.infinity, key));
    const declaration =
      'poolIdToPoolKey(bytes32) view returns (address, address, address, address, uint24, bytes32)';
    const seen = { pool: id, emitter: factory };
    expect(prove(custom(family), [[factory, declaration, [id], key]], seen).verdict).toMatchObject({
      verdict: 'proven',
      proven: { tokens: [token0, token1], fee: 500, tickSpacing, hooks: null },
    });
  });

  test.each([
    ['balancer-2', keccak256Hex(Buffer.from('id')), 'getPool(bytes32) view returns (address, uint8)', [pool, 2]],
    ['balancer-3', pool, 'isPoolRegistered(address) view returns (bool)', true],
  ])('of %s returns whether it is registered', (family, id, declaration, result) => {
    const seen = { pool: id, emitter: factory };
    expect(prove(custom(family), [[factory, declaration, [id], result]], seen).verdict).toMatchObject({
      verdict: 'proven',
      proven: { pool: id, tokens: null },
    });
    expect(prove(custom(family), [], seen).verdict).toEqual({ verdict: 'disproved' });
    // A contract that names a vault as its factory is no pool of it.
    expect(prove(custom(family), TOKENS).verdict).toEqual({ verdict: 'disproved' });
  });
});

test('hints that are no values of their kind count as none', () => {
  const word = `0x${'f'.repeat(64)}` as const;
  const garbage: Contracts = [HINTS.fee, HINTS.token0, HINTS.token1].map(([at, declaration]) => [
    at,
    `${declaration.slice(0, declaration.indexOf('('))}() view returns (bytes32)`,
    [],
    word,
  ]);
  expect(prove(custom('v3'), [HINTS.factory, ...garbage]).verdict).toEqual({ verdict: 'disproved' });
  const named: Contracts[number] = [pool, 'factory() view returns (bytes32)', [], word];
  expect(prove(custom('v3'), [named]).verdict).toEqual({ verdict: 'disproved' });
});
