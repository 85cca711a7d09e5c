import { itemsOf, type Match, referenceText, restoreMatch } from '../match.ts';

/** Returns the match as it is restored from its stored texts; null if an item is missing. */
export function storedAndRestored(match: Match): Match | null {
  const items = new Map(itemsOf(match).map(({ kind, place, render }) => [`${kind}/${place}`, render()]));
  return restoreMatch(match, referenceText(match), ({ kind, place }) => items.get(`${kind}/${place}`) ?? null);
}
