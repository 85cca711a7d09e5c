import { type Chain, createChainRegistry } from '@chainstead/chains';
import type { ExampleSale } from './example-sale.ts';
import { SALES_OF_LARGE_MARKETS } from './example-sales-of-large-markets.ts';
import { SALES_OF_SMALL_MARKETS } from './example-sales-of-small-markets.ts';
import { SALES_ON_PAYMENT_PROCESSOR } from './example-sales-on-payment-processor.ts';

/** At least one sale per event of each marketplace without its own test file. */
export const EXAMPLE_SALES: readonly ExampleSale[] = [
  ...SALES_OF_LARGE_MARKETS,
  ...SALES_OF_SMALL_MARKETS,
  ...SALES_ON_PAYMENT_PROCESSOR,
];

const chains = createChainRegistry();

/** The chain of the sale. */
export function chainOf(sale: ExampleSale): Chain {
  return chains.get(sale.chainId);
}
