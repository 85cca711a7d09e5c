/** Figures that are shown of traits and of rarity. */

/** How many percent of all that is, with two decimals. @param whole above 0 */
export function percentageOf(part: number, whole: number): number {
  // In whole hundredths, half of one upwards: exact for counts.
  return Math.floor((2 * PARTS * part + whole) / (2 * whole)) / 100;
}

/** `Top 13% trait`: among so many percent of a collection its NFTs are. */
export function traitLabel(percentage: number): string {
  return `Top ${topOf(percentage)}% trait`;
}

/** `Top 98%`: among so many percent of a collection the NFT is. */
export function rarityLabel(percentage: number): string {
  return `Top ${topOf(percentage)}%`;
}

/** What is shown of a trait that `count` of `tokens` ids have. */
export interface TraitFigures {
  readonly count: number;
  readonly percentage: number;
  readonly rarity_label: string;
}

export function traitFigures(count: number, tokens: number): TraitFigures {
  const percentage = percentageOf(count, tokens);
  return { count, percentage, rarity_label: traitLabel(percentage) };
}

/** What is shown of an id's rank among `tokens`. */
export interface RarityFigures {
  readonly rarity_rank: number;
  readonly rarity_percentage: number;
  readonly rarity_label: string;
}

export function rarityFigures(rank: number, tokens: number): RarityFigures {
  const percentage = percentageOf(rank, tokens);
  return { rarity_rank: rank, rarity_percentage: percentage, rarity_label: rarityLabel(percentage) };
}

const PARTS = 10_000;

function topOf(percentage: number): number {
  return Math.max(1, Math.ceil(percentage));
}
