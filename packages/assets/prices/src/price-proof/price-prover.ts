import type { NodeReadQueue } from '@chainstead/node-reads/requests';
import type { ProvePrice } from '../token-price/serve/price-routes.ts';
import { PRICE_EVIDENCE } from './evidence-kind.ts';
import { showProvenPrice } from './prove-price.ts';

/** Milliseconds. Receipts of a block hash never change: a retry finds them. */
const KEPT_MS = 300_000;

export function createPriceProver({ nodeReads }: { readonly nodeReads: NodeReadQueue }): ProvePrice {
  return (found, chain, database) =>
    showProvenPrice(found, chain, {
      database,
      readEvidence: (question) => nodeReads.request(chain, PRICE_EVIDENCE, question, { maxAgeMs: KEPT_MS }),
    });
}
