import type { Marketplace } from './marketplace.ts';
import { blurV1, blurV2 } from './marketplaces/blur.ts';
import { cryptoPunks } from './marketplaces/cryptopunks.ts';
import { elementV1, elementV2 } from './marketplaces/element.ts';
import { foundation } from './marketplaces/foundation.ts';
import { joepegs, looksRareV1 } from './marketplaces/looksrare-v1.ts';
import { looksRareV2 } from './marketplaces/looksrare-v2.ts';
import { pancake } from './marketplaces/pancake.ts';
import { paymentProcessorV2, paymentProcessorV3 } from './marketplaces/payment-processor.ts';
import { paymentProcessorV1 } from './marketplaces/payment-processor-v1.ts';
import { raribleV1 } from './marketplaces/rarible-v1.ts';
import { raribleV2 } from './marketplaces/rarible-v2.ts';
import { seaportMarketplaces } from './marketplaces/seaport.ts';
import { superRareBazaar, superRareMarket } from './marketplaces/superrare.ts';
import { tofu } from './marketplaces/tofu.ts';
import { treasure } from './marketplaces/treasure.ts';
import { wyvernMarketplaces } from './marketplaces/wyvern.ts';
import { x2y2 } from './marketplaces/x2y2.ts';
import { openSeaOnPolygon, zeroExV3 } from './marketplaces/zero-ex-v3.ts';
import { zeroExV4 } from './marketplaces/zero-ex-v4.ts';
import { zoraAsks, zoraAuctions } from './marketplaces/zora.ts';

export const marketplaces: readonly Marketplace[] = [
  ...seaportMarketplaces, //
  ...wyvernMarketplaces,
  blurV1,
  blurV2,
  looksRareV1,
  looksRareV2,
  joepegs,
  x2y2,
  zeroExV4,
  openSeaOnPolygon,
  zeroExV3,
  cryptoPunks,
  foundation,
  superRareMarket,
  superRareBazaar,
  zoraAuctions,
  zoraAsks,
  raribleV1,
  raribleV2,
  elementV1,
  elementV2,
  paymentProcessorV1,
  paymentProcessorV2,
  paymentProcessorV3,
  treasure,
  tofu,
  pancake,
];
