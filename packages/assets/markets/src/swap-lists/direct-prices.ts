import type { Chain } from '@chainstead/chains';
import type { Address, Fraction, Logger } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import type { AnchorBook } from '../anchors/anchor-steps.ts';
import { ANCHOR_KINDS, anchorsOf } from '../anchors/anchors-of-chain.ts';

/** US dollars per whole token by pools against anchors, at the end of a block; null: none. */
export type DirectPrices = (token: Address, block: number) => Fraction | null;

/** Without contract reads. A package above implements it: prices follow from pools. */
export type ReadDirectPrices = (
  sources: { readonly database: ReadDatabase; readonly logger: Logger },
  chain: Chain,
  wanted: ReadonlyMap<number, readonly Address[]>,
) => Promise<DirectPrices>;

interface PricedSwap {
  readonly kind: number;
  readonly block_number: number;
  readonly token0: Address | null;
  readonly token1: Address | null;
}

export async function readValuePrices(
  chain: Chain,
  swaps: readonly PricedSwap[],
  anchorUsd: AnchorBook,
  read: (wanted: ReadonlyMap<number, readonly Address[]>) => Promise<DirectPrices>,
): Promise<(swap: PricedSwap) => AnchorBook> {
  const anchors = anchorsOf(chain);
  const isAnchor = (token: Address | null) =>
    token !== null && ANCHOR_KINDS.some((kind) => anchors[kind].includes(token));
  const isWithoutAnchor = ({ kind, token0, token1 }: PricedSwap) =>
    kind === 0 && !isAnchor(token0) && !isAnchor(token1);
  const unanchored = Map.groupBy(swaps.filter(isWithoutAnchor), ({ block_number: block }) => block);
  if (unanchored.size === 0) return () => anchorUsd;
  const wanted = new Map(
    [...unanchored].map(([block, some]) => {
      const tokens = some.flatMap(({ token0, token1 }) =>
        token0 === null || token1 === null ? [] : [token0, token1],
      );
      return [block, [...new Set(tokens)]] as const;
    }),
  );
  const direct = await read(wanted);
  const priceAt = (token: Address, { block }: { readonly block: number }) => direct(token, block);
  const directUsd: AnchorBook = Object.assign(priceAt, { isPending: () => false });
  return (swap) => (isWithoutAnchor(swap) ? directUsd : anchorUsd);
}
