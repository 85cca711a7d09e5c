import type { ChainFamily } from './define-chain.ts';

/** Blocks. Allows an upstream's slip, not a branch. */
const INSTANT_FINALITY_DEPTH = 16;

/** Also Gnosis since its merge, Linea, Moonbeam (Frontier), Monad. */
export const ETHEREUM: ChainFamily = {
  receiptsRoot: 'ethereum',
  bloom: 'committed',
  headerHash: true,
  proofPolicy: 'strict',
  finalizedTag: true,
  uncommitted: 'none',
};

/** Deposit receipts (0x7e) in Ethereum blocks. */
export const OP_STACK: ChainFamily = { ...ETHEREUM, uncommitted: 'l1Fees' };

/** OP Stack since its migration, separate before: two kinds of headers. */
export const RONIN: ChainFamily = { ...OP_STACK, headerHash: false };

/** Before the Rio fork, 157 blocks were seen to go. */
export const BOR: ChainFamily = { ...ETHEREUM, reorgDepthMax: 256, uncommitted: 'stateSync' };

export const PARLIA: ChainFamily = { ...ETHEREUM };

/** Fork of BNB Smart Chain: finalized tag and header form not confirmed. */
export const CHILIZ: ChainFamily = { ...PARLIA, headerHash: false, finalizedTag: false };

/** Accepted blocks never change; additional header fields. */
export const AVALANCHE: ChainFamily = { ...ETHEREUM, headerHash: false, reorgDepthMax: INSTANT_FINALITY_DEPTH };

/** System transactions are outside root and bloom; nodes show them differently. */
export const HYPEREVM: ChainFamily = {
  receiptsRoot: 'hyperliquid',
  bloom: 'committed',
  headerHash: false,
  proofPolicy: 'record',
  uncommitted: 'none',
  finalizedTag: false,
  reorgDepthMax: INSTANT_FINALITY_DEPTH,
};

/** Nitro blocks prove like Ethereum's; classic ones before them don't. */
export const NITRO: ChainFamily = { ...ETHEREUM, proofPolicy: 'record', uncommitted: 'l1Fees' };

/** zkSync (zero roots) and Polygon zkEVM (unchecked roots). */
export const UNCOMMITTED_ROLLUP: ChainFamily = {
  receiptsRoot: 'none',
  bloom: 'untrusted',
  headerHash: false,
  uncommitted: 'none',
  proofPolicy: 'record',
  finalizedTag: true,
};

/** Tendermint headers (Cronos, ZetaChain, Sei) and Flow's: roots can't be recomputed. */
export const INSTANT_FINALITY: ChainFamily = { ...UNCOMMITTED_ROLLUP, reorgDepthMax: INSTANT_FINALITY_DEPTH };

/** Fantom: bloom and root come from the answering node, or are zero. */
export const OPERA: ChainFamily = { ...INSTANT_FINALITY, finalizedTag: false };

/** Tries Ethereum's encoding; a mismatch is only recorded. */
export const UNVERIFIED: ChainFamily = {
  receiptsRoot: 'ethereum',
  bloom: 'committed',
  headerHash: false,
  uncommitted: 'none',
  proofPolicy: 'record',
  finalizedTag: true,
};
