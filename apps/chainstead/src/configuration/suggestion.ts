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
export function editDistance(left: string, right: string): number {
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
