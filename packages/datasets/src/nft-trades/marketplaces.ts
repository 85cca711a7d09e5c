import type { Marketplace } from './marketplace.ts';
import { blurV1 } from './marketplaces/blur-v1.ts';
import { blurV2 } from './marketplaces/blur-v2.ts';
import { seaportMarketplaces } from './marketplaces/seaport.ts';
import { wyvernMarketplaces } from './marketplaces/wyvern.ts';

/** Every marketplace version that is decoded: one import and one entry each. */
export const marketplaces: readonly Marketplace[] = [
  ...seaportMarketplaces, //
  ...wyvernMarketplaces,
  blurV1,
  blurV2,
];
