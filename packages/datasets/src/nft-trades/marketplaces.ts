import type { Marketplace } from './marketplace.ts';

/** Every marketplace version that is decoded: one import and one entry each. */
export const marketplaces: readonly Marketplace[] = [];
