/** Chains as plain data. Start reading at `chain.ts`. */
export * from './chain.ts';
export { type ChainRegistry, createChainFinder, createChainRegistry } from './chain-registry.ts';
export type { CustomChain } from './custom-chain.ts';
export type { EtherPool } from './ether-price.ts';
