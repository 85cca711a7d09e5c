import type { ChainFamily } from './define-chain.ts';

/** Reorganisations that a chain with instant finality is allowed: an upstream's slip, not a branch. Blocks. */
const INSTANT_FINALITY_DEPTH = 16;

/** Ethereum's own receipts and headers: its clients, Gnosis after its merge, Linea, Moonbeam (Frontier), Monad. */
export const ETHEREUM: ChainFamily = {
  receiptsRoot: 'ethereum',
  bloom: 'committed',
  headerHash: true,
  proofPolicy: 'strict',
  finalizedTag: true,
};

/** Optimism's stack: deposit receipts (0x7e) in an otherwise Ethereum block. */
export const OP_STACK: ChainFamily = { ...ETHEREUM };

/** An OP Stack layer since its migration, a separate chain before: two kinds of headers. */
export const RONIN: ChainFamily = { ...ETHEREUM, headerHash: false };

/** Polygon's Bor: before the Rio fork 157 blocks were seen to go. */
export const BOR: ChainFamily = { ...ETHEREUM, reorgDepthMax: 256 };

/** BNB Smart Chain's consensus. */
export const PARLIA: ChainFamily = { ...ETHEREUM };

/** A fork of BNB Smart Chain whose finalized tag and header form were not confirmed. */
export const CHILIZ: ChainFamily = { ...PARLIA, headerHash: false, finalizedTag: false };

/** Avalanche's C-Chain: accepted blocks never change; the header has additional fields. */
export const AVALANCHE: ChainFamily = { ...ETHEREUM, headerHash: false, reorgDepthMax: INSTANT_FINALITY_DEPTH };

/** HyperEVM: system transactions are outside receipts root and bloom, and how nodes show them varies. */
export const HYPEREVM: ChainFamily = {
  receiptsRoot: 'hyperliquid',
  bloom: 'committed',
  headerHash: false,
  proofPolicy: 'record',
  finalizedTag: false,
  reorgDepthMax: INSTANT_FINALITY_DEPTH,
};

/** Arbitrum: Nitro blocks prove like Ethereum's, the classic ones before them don't. */
export const NITRO: ChainFamily = { ...ETHEREUM, proofPolicy: 'record' };

/** Headers that commit to no receipts: zkSync (zero roots) and Polygon zkEVM (unchecked roots). */
export const UNCOMMITTED_ROLLUP: ChainFamily = {
  receiptsRoot: 'none',
  bloom: 'untrusted',
  headerHash: false,
  proofPolicy: 'record',
  finalizedTag: true,
};

/** Tendermint headers (Cronos, ZetaChain, Sei) and Flow's own: final at once, roots that can't be recomputed. */
export const INSTANT_FINALITY: ChainFamily = { ...UNCOMMITTED_ROLLUP, reorgDepthMax: INSTANT_FINALITY_DEPTH };

/** Fantom's Opera: bloom and root are made by the answering node, or zero. */
export const OPERA: ChainFamily = { ...INSTANT_FINALITY, finalizedTag: false };

/** Chains of which nothing was confirmed: Ethereum's encoding is tried, and a mismatch is only recorded. */
export const UNVERIFIED: ChainFamily = {
  receiptsRoot: 'ethereum',
  bloom: 'committed',
  headerHash: false,
  proofPolicy: 'record',
  finalizedTag: true,
};
