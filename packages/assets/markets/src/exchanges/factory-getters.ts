import { type Hash, type Hex, keccak256Hex, parseHash, ZERO_ADDRESS } from '@chainstead/core';
import { addressAt, bigIntAt, wordCount } from '@chainstead/events/abi';
import { algebraCustomPool, managedPoolInitialized, type PoolFacts } from '../pools/pool-creation.ts';
import {
  callData,
  type FactoryQuestion,
  type Hint,
  hasAddress,
  isTrue,
  type Membership,
  NO_FACTS,
  type PoolHints,
  type PoolTiers,
  type ProofByAddress,
  type ProofByArguments,
  type ProofByKey,
  wordOf,
} from './pool-proof.ts';

const TOKENS: readonly Hint[] = [hint('token0', 'token0()'), hint('token1', 'token1()')];
const FEE = hint('fee', 'fee()');
const TICK_SPACING = hint('tickSpacing', 'tickSpacing()');
const STABLE = hint('isStable', 'stable()');

/** Parts per million: all fixed fees of known exchanges. */
export const FEES: readonly number[] = [
  1, 8, 10, 20, 40, 50, 80, 100, 200, 250, 300, 350, 400, 450, 500, 1_000, 2_500, 3_000, 5_000, 10_000, 20_000,
];
/** Ticks: all that Velodrome and Aerodrome have enabled. */
export const TICK_SPACINGS: readonly number[] = [1, 10, 50, 60, 80, 100, 200, 2_000];
const SPACINGS = [...TICK_SPACINGS, 5];
const ONE_TIER: PoolTiers = { all: [{}], enabled: null };
const UNKNOWN_TIERS: PoolTiers = { all: [], enabled: null };
const KINDS: PoolTiers = { all: [{ isStable: false }, { isStable: true }], enabled: null };

const byFee = question(
  'getPool(address,address,uint24)',
  ({ fee, tickSpacing }) => (fee === null ? null : { word: fee, fee, tickSpacing }),
  {
    all: FEES.map((fee) => ({ fee })),
    enabled: ({ fee }) => callData('feeAmountTickSpacing(uint24)', fee ?? 0),
  },
);
const bySpacing = question(
  'getPool(address,address,int24)',
  ({ tickSpacing }) => (tickSpacing === null ? null : { word: tickSpacing, tickSpacing }),
  { all: SPACINGS.map((tickSpacing) => ({ tickSpacing })), enabled: null },
);

export const pairOfTokens = named(TOKENS, [question('getPair(address,address)', () => ({}), ONE_TIER)]);
export const pairOfKind = {
  ...named([...TOKENS, STABLE], [question('getPair(address,address,bool)', byKind, KINDS)]),
  membership: membership('isPair(address)', isTrue),
};
export const poolOfKind = named([...TOKENS, STABLE], [question('getPool(address,address,bool)', byKind, KINDS)]);
export const poolOfFeeOrSpacing = named([...TOKENS, FEE, TICK_SPACING], [byFee, bySpacing]);
export const poolOfFee = named([...TOKENS, FEE, TICK_SPACING], [byFee]);
export const poolOfFeeUnits = named(
  [...TOKENS, hint('fee', 'swapFeeUnits()'), hint('tickSpacing', 'tickDistance()')],
  [byFee],
);
export const poolOfSpacing = named([...TOKENS, TICK_SPACING], [bySpacing]);
export const poolByPair = named(TOKENS, [question('poolByPair(address,address)', () => ({}), ONE_TIER)]);
/** Algebra Integral: `customPoolByPair` needs the deployer, which the pool doesn't return. */
export const poolByPairOrDeployer: ProofByArguments = {
  ...poolByPair,
  search: {
    event: algebraCustomPool,
    topics(pools) {
      const pairs = pools.flatMap(({ tokens }) => (tokens === null ? [] : [tokens]));
      return [null, topicsOf(pairs.map(([token0]) => token0)), topicsOf(pairs.map(([, token1]) => token1))];
    },
    confirms: () => true,
  },
};

const binQuestion: FactoryQuestion = {
  ...question(
    'getLBPairInformation(address,address,uint256)',
    ({ tickSpacing }) => (tickSpacing === null ? null : { word: tickSpacing, tickSpacing }),
    UNKNOWN_TIERS,
  ),
  word: 1,
};
/** Liquidity Book 2.0: the first word of the fee parameters is the bin step. */
export const binPairOfParameters = named(
  [hint('token0', 'tokenX()'), hint('token1', 'tokenY()'), hint('tickSpacing', 'feeParameters()')],
  [binQuestion],
);
export const binPair: ProofByArguments = {
  ...named(
    [hint('token0', 'getTokenX()'), hint('token1', 'getTokenY()'), hint('tickSpacing', 'getBinStep()')],
    [binQuestion],
  ),
  namesFactory: callData('getFactory()'),
};

export const smartPool = memberOf('isBPool(address)', isTrue);
export const poolWithCoins = memberOf('get_coins(address)', hasAddress);
export const registeredId = memberOf(
  'getPool(bytes32)',
  (returned) => (addressAt(returned) ?? ZERO_ADDRESS) !== ZERO_ADDRESS,
);
export const registeredPool = memberOf('isPoolRegistered(address)', isTrue);

/** Uniswap v4, by 25 bytes of the id: only pools with liquidity of the position manager. */
export const keyOfPositionManager: ProofByKey = {
  by: 'key',
  reader: 'keyReader',
  keyOf: (pool) => callData('poolKeys(bytes25)', `0x${pool.slice(2, 52)}${'0'.repeat(14)}`),
  decode(returned, pool) {
    const key = wordsOf(returned, 5);
    if (key === null || hashOf(key) !== pool) return null;
    return managedFacts(returned, bigIntAt(returned, 2), bigIntAt(returned, 3), 4);
  },
  search: {
    event: managedPoolInitialized,
    topics: (pools) => [topicsOf(pools.map(({ pool }) => pool))],
    confirms(pool, { tokens, fee, tickSpacing, hooks }) {
      const key = [...(tokens ?? []), fee ?? 0, tickSpacing ?? 0, hooks ?? ZERO_ADDRESS];
      return hashOf(key.map(wordOf).join('')) === pool;
    },
  },
};
export const infinityKey = keyOfManager(24);
export const infinityBinKey = keyOfManager(16);

function keyOfManager(spacingBits: number): ProofByKey {
  return {
    by: 'key',
    reader: 'factory',
    keyOf: (pool) => callData('poolIdToPoolKey(bytes32)', pool),
    decode(returned, pool) {
      const key = wordsOf(returned, 6);
      if (key === null || hashOf(key) !== pool) return null;
      const spacing = BigInt.asUintN(spacingBits, bigIntAt(returned, 5) >> 16n);
      return managedFacts(returned, bigIntAt(returned, 4), BigInt.asIntN(24, spacing), 2);
    },
    search: null,
  };
}

function hashOf(words: string): Hash {
  return keccak256Hex(Buffer.from(words, 'hex'));
}

function topicsOf(values: readonly Hex[]): readonly Hash[] {
  return [...new Set(values.map((value) => parseHash(`0x${wordOf(value)}`)))];
}

function managedFacts(returned: Hex, fee: bigint, spacing: bigint, hooksPlace: number): PoolFacts | null {
  const [token0, token1] = [addressAt(returned, 0), addressAt(returned, 1)];
  if (token0 === null || token1 === null) return null;
  const hooks = addressAt(returned, hooksPlace);
  return {
    ...NO_FACTS,
    tokens: [token0, token1],
    fee: Number(fee),
    tickSpacing: Number(BigInt.asIntN(24, spacing)),
    hooks: hooks === ZERO_ADDRESS ? null : hooks,
  };
}

function wordsOf(returned: Hex, count: number): string | null {
  return (wordCount(returned) ?? 0) < count ? null : returned.slice(2, 2 + 64 * count);
}

function hint(of: Hint['of'], signature: string): Hint {
  return { of, data: callData(signature) };
}

function named(hints: readonly Hint[], questions: readonly FactoryQuestion[]): ProofByArguments {
  const namesFactory = callData('factory()');
  return { by: 'arguments', namesFactory, membership: null, hints, questions, search: null };
}

function question(
  signature: string,
  further: (hints: PoolHints) => FurtherArgument | null,
  tiers: PoolTiers,
): FactoryQuestion {
  return {
    word: 0,
    tiers,
    ask(hints) {
      const { token0, token1 } = hints;
      const argument = further(hints);
      if (token0 === null || token1 === null || argument === null) return null;
      const { word, ...facts } = argument;
      const data = callData(signature, token0, token1, ...(word === undefined ? [] : [word]));
      return { data, facts: { ...NO_FACTS, ...facts, tokens: [token0, token1] } };
    },
  };
}

type FurtherArgument = { readonly word?: number } & Partial<Pick<PoolFacts, 'fee' | 'tickSpacing' | 'isStable'>>;

function byKind({ isStable }: PoolHints): FurtherArgument | null {
  return isStable === null ? null : { word: Number(isStable), isStable };
}

function membership(signature: string, isMember: Membership['isMember']): Membership {
  return { ask: (pool) => callData(signature, pool), isMember };
}

function memberOf(signature: string, isMember: Membership['isMember']): ProofByAddress {
  return { by: 'address', membership: membership(signature, isMember) };
}
