/** Chains as plain data. Start reading at `chain.ts`. */
export * from './chain.ts';
export { type ChainRegistry, createChainFinder, createChainRegistry } from './chain-registry.ts';
export type { CustomChain } from './custom-chain.ts';
export { environmentSuffix } from './environment-suffix.ts';
export type { EtherPool } from './ether-price.ts';
export { DEFAULT_HEARTBEAT_SECONDS, feedsOf, type PriceFeed, type TokenFeed } from './price-feeds.ts';
export { DEFAULT_PRICING_RULES, type PricingRules } from './pricing-rules.ts';
