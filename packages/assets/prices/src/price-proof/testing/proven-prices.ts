/** Proofs over the priced chain, whose rows and node a test file shares. */
import { createChainRegistry } from '@chainstead/chains';
import { type Hash, parseHash, silentLogger, systemClock } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { examplePool, serveChain } from '@chainstead/testkit';
import type { ShownTokenPrice } from '../../token-price/serve/price-response.ts';
import { type EvidenceQuestion, type PriceEvidence, priceEvidenceReader } from '../evidence-kind.ts';
import { type ProofSources, readExplainedPrice } from '../prove-price.ts';
import type { Trust } from '../verify-price.ts';
import { CATS, eth, HEAD, pricedChain, storePricedChain } from './priced-chain.ts';

export const chains = createChainRegistry();
export const NO_TRUST: Trust = { blockHash: null, blockHashes: null };
const source = pricedChain();

/** Hash of a block of the chain. */
export const hashOf = (block: number): Hash => parseHash(source.blockAt(block)?.hash);

interface ProvenPrices {
  /** Reads evidence from the node. */
  read(question: EvidenceQuestion): Promise<PriceEvidence>;
  /** The price of a token at the head, with its proof. */
  prove(readEvidence: ProofSources['readEvidence'], token?: typeof CATS): Promise<ShownTokenPrice>;
  close(): Promise<void>;
}

/** Stores the chain and starts its node. */
export async function openProvenPrices(database: Database): Promise<ProvenPrices> {
  const parts = new AsyncDisposableStack();
  await storePricedChain(database, source);
  const node = parts.adopt(await serveChain(source), (one) => one.close());
  const pool = parts.adopt(await examplePool(eth, node.url), (one) => one.close());
  const context = { chain: eth, pool, database, logger: silentLogger(), clock: systemClock };
  return {
    read: (question) => priceEvidenceReader.read(context, question, AbortSignal.timeout(20_000)),
    prove: (readEvidence, token = CATS) =>
      readExplainedPrice(database, eth, { token, exchange: null, toBlock: HEAD }, readEvidence),
    close: () => parts.disposeAsync(),
  };
}
