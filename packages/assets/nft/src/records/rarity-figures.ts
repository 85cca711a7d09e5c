/** Two decimals. @param whole above 0 */
export function percentageOf(part: number, whole: number): number {
  // In whole hundredths, half of one rounded up: exact for counts.
  return Math.floor((2 * PARTS * part + whole) / (2 * whole)) / 100;
}

export function traitLabel(percentage: number): string {
  return `Top ${topOf(percentage)}% trait`;
}

export function rarityLabel(percentage: number): string {
  return `Top ${topOf(percentage)}%`;
}

export interface TraitFigures {
  readonly count: number;
  readonly percentage: number;
  readonly rarity_label: string;
}

export function traitFigures(count: number, tokens: number): TraitFigures {
  const percentage = percentageOf(count, tokens);
  return { count, percentage, rarity_label: traitLabel(percentage) };
}

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
