import { type Trait, traitName } from '../records/trait.ts';

export interface RankedToken {
  readonly tokenId: string;
  /** Indexes in {@link TraitCensus.traits}, ascending. */
  readonly traits: readonly number[];
  /** Six decimals. */
  readonly score: number;
  /** From 1. Null if no id has a trait. */
  readonly rank: number | null;
}

export interface TraitCensus {
  /** By count, type and value, all ascending; texts by their code units. */
  readonly traits: readonly (Trait & { readonly count: number })[];
  readonly tokens: readonly RankedToken[];
}

export interface TraitCounter {
  /** @param traits each at most once @returns false if the collection has too many */
  add(tokenId: string, traits: readonly Trait[]): boolean;
  result(): TraitCensus;
}

/** Ids times traits. */
export const PAIRS_MAX = 2_000_000;
/** Characters of all distinct traits. */
const TEXT_MAX = 33_554_432;

interface FoundTrait {
  readonly trait: Trait;
  readonly type: FoundType;
  count: number;
}

type FoundType = { ids: number };
type FoundToken = { readonly tokenId: string; readonly traits: readonly FoundTrait[] };

/** Σ T ÷ count over an id's traits; a type that it lacks counts as a trait. */
export function createTraitCounter(limits: { readonly pairsMax?: number } = {}): TraitCounter {
  const { pairsMax = PAIRS_MAX } = limits;
  const byName = new Map<string, FoundTrait>();
  const types = new Map<string, FoundType>();
  const tokens: FoundToken[] = [];
  let pairs = 0;
  let characters = 0;

  function find(trait: Trait): FoundTrait {
    const name = traitName(trait);
    const counted = byName.get(name);
    if (counted !== undefined) return counted;
    characters += name.length;
    const type = types.get(trait.type) ?? { ids: 0 };
    types.set(trait.type, type);
    const first: FoundTrait = { trait, type, count: 0 };
    byName.set(name, first);
    return first;
  }

  return {
    add(tokenId, traits) {
      pairs += traits.length;
      if (pairs > pairsMax || characters > TEXT_MAX) return false;
      const own = traits.map(find);
      for (const each of own) each.count += 1;
      for (const type of typesOf(own)) type.ids += 1;
      tokens.push({ tokenId, traits: own });
      return true;
    },
    result() {
      const ordered = [...byName.values()].sort(
        (a, b) =>
          a.count - b.count ||
          compareTexts(a.trait.type, b.trait.type) ||
          compareTexts(a.trait.value, b.trait.value),
      );
      const indexes = new Map(ordered.map((trait, index) => [trait, index]));
      const scores = scoresOf(tokens, [...types.values()]);
      const ranks = ranksOf(scores);
      return {
        traits: ordered.map(({ trait, count }) => ({ ...trait, count })),
        tokens: tokens.map(({ tokenId, traits }, index) => ({
          tokenId,
          traits: traits.map((trait) => indexes.get(trait) ?? 0).sort((a, b) => a - b),
          score: scores[index] ?? 0,
          rank: ordered.length === 0 ? null : (ranks[index] ?? null),
        })),
      };
    },
  };
}

/** Shares are multiples of this fraction: their sums are equal in any order. */
const PRECISION = 10n ** 12n;
/** Truncated shares don't distinguish equal scores. */
const ROUNDED = 10n ** 6n;

function scoresOf(tokens: readonly FoundToken[], types: readonly FoundType[]): readonly number[] {
  const all = BigInt(tokens.length) * PRECISION;
  const shares = new Map<number, bigint>();
  const shareOf = (count: number): bigint => {
    const cached = shares.get(count);
    if (cached !== undefined) return cached;
    const share = count === 0 ? 0n : (all + BigInt(count) / 2n) / BigInt(count);
    shares.set(count, share);
    return share;
  };
  const lackOf = ({ ids }: FoundType): bigint => shareOf(tokens.length - ids);
  const withoutAny = types.reduce((sum, type) => sum + lackOf(type), 0n);
  return tokens.map(({ traits }) => {
    let sum = withoutAny;
    for (const { count } of traits) sum += shareOf(count);
    for (const type of typesOf(traits)) sum -= lackOf(type);
    return Number((sum + ROUNDED / 2n) / ROUNDED) / Number(PRECISION / ROUNDED);
  });
}

/** The highest score has rank 1, equal ones share the better rank. */
export function ranksOf(scores: readonly number[]): readonly number[] {
  const falling = scores.map((score, index) => ({ score, index })).sort((a, b) => b.score - a.score);
  const ranks = new Array<number>(scores.length);
  let rank = 1;
  for (const [position, { score, index }] of falling.entries()) {
    if (score !== falling[position - 1]?.score) rank = position + 1;
    ranks[index] = rank;
  }
  return ranks;
}

function typesOf(traits: readonly FoundTrait[]): ReadonlySet<FoundType> {
  return new Set(traits.map(({ type }) => type));
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
