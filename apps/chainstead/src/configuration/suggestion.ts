import type { ChainRegistry } from '@chainstead/chains';

const LENGTH_MIN = 6;
const LENGTH_FOR_TWO_EDITS = 9;

/** Null: none. An environment may hold hundreds of foreign keys. */
export function keySuggestions(candidates: readonly string[]): (given: string) => string | null {
  const byWords = new Map(candidates.toReversed().map((candidate) => [sortedWords(candidate), candidate]));
  return (given) => {
    const reordered = byWords.get(sortedWords(given));
    if (reordered !== undefined) return reordered;
    if (given.length < LENGTH_MIN) return null;
    const editsMax = given.length >= LENGTH_FOR_TWO_EDITS ? 2 : 1;
    return closest(given, candidates, editsMax);
  };
}

export function closest(given: string, candidates: readonly string[], editsMax: number): string | null {
  let best: string | null = null;
  let bestEdits = editsMax + 1;
  for (const candidate of candidates) {
    if (Math.abs(given.length - candidate.length) >= bestEdits) continue;
    const edits = editDistance(given, candidate);
    if (edits < bestEdits) {
      best = candidate;
      bestEdits = edits;
    }
  }
  return best;
}

/** In any order and number: ETH_RPC_URL is RPC_URLS_ETH. */
function sortedWords(key: string): string {
  return key
    .split('_')
    .map((word) => (word.length > 2 ? word.replace(/S$/, '') : word))
    .toSorted()
    .join('_');
}

/** Levenshtein distance. */
function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const replace = (previous[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1);
      current.push(Math.min(replace, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[right.length] ?? 0;
}

const SHORT_NAME_LENGTH = 5;
const SEPARATORS = /[\s;|+&]+/;

const OTHER_NAMES: Readonly<Record<string, string>> = {
  mainnet: 'eth',
  ether: 'eth',
  bnb: 'bsc',
  binance: 'bsc',
  matic: 'polygon',
  arb: 'arbitrum',
  op: 'optimism',
  avax: 'avalanche',
  ftm: 'fantom',
  xdai: 'gnosis',
};

export function suggestChains(given: string, known: ChainRegistry): string {
  const one = nearest(given, known);
  const words = given.split(SEPARATORS).filter((word) => word !== '');
  const each = words.length > 1 ? words.map((word) => nearest(word, known)) : [];
  const isList = each.length > 0 && new Set(each).size === each.length && each.every((name) => name !== null);
  const several = isList ? each.join(',') : null;
  const meant = [one, several].filter((name) => name !== null);
  return meant.length === 0 ? '' : `Did you mean ${meant.join(', or ')}?`;
}

function nearest(given: string, known: ChainRegistry): string | null {
  const name = given.trim().toLowerCase();
  const exact = known.find(OTHER_NAMES[name] ?? name);
  if (exact !== null) return exact.key;
  const names = known.all().flatMap((chain) => [chain.key, ...chain.apiNames]);
  const near = closest(name, names, name.length < SHORT_NAME_LENGTH ? 1 : 2);
  return near === null ? null : (known.find(near)?.key ?? near);
}
