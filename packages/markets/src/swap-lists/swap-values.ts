/** Dollar values of a swap in its block; null: unknown. */
export interface SwapValues {
  readonly basePriceUsd: number | null;
  readonly quotePriceUsd: number | null;
  readonly totalValueUsd: number | null;
}

/** No token has a price yet: the only place where values of swap lists come from. */
export const UNVALUED: SwapValues = { basePriceUsd: null, quotePriceUsd: null, totalValueUsd: null };
