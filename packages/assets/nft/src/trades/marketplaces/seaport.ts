import type { Log } from '@chainstead/core';

import {
  deployments,
  type Fill,
  type Marketplace,
  type MarketplaceName,
  type TradeTransaction,
} from '../marketplace.ts';
import { ORDERS_MATCHED, seaportFills } from './seaport-fills.ts';
import { ORDER_FULFILLED } from './seaport-order.ts';

const ETH = 1;
const OPTIMISM = 10;
const BSC = 56;
const POLYGON = 137;
const BASE = 8453;
const ARBITRUM = 42_161;
const AVALANCHE = 43_114;
const ALL = [ETH, OPTIMISM, BSC, POLYGON, BASE, ARBITRUM, AVALANCHE];

export const seaportMarketplaces: readonly Marketplace[] = [
  seaport('opensea', 'seaport-1.1', everywhere('0x00000000006c3852cbef3e08e8df289169ede581')),
  seaport('opensea', 'seaport-1.2', everywhere('0x00000000000006c7676171937c444f6bde3d6282')),
  seaport('opensea', 'seaport-1.3', everywhere('0x0000000000000ad24e80fd803c6ac37206a45f15')),
  seaport('opensea', 'seaport-1.4', everywhere('0x00000000000001ad428e4906ae43d8f9852d0dd6')),
  seaport('opensea', 'seaport-1.5', everywhere('0x00000000000000adc04c56bf30ac9d3c0aaf14dc')),
  seaport('opensea', 'seaport-1.6', everywhere('0x0000000000000068f116a894984e2db1123eb395')),
  seaport('other', 'alienswap', {
    [ETH]: '0x83746de31fc8de985ffe46c1c20ea6d7d8f4ed3a',
    [BASE]: '0x878dd5e0c3dedfebff67046bb218fb03c26e3e47',
    [ARBITRUM]: '0xb52fdd8f3821cc60ba4583a822f03317de544bc2',
    [OPTIMISM]: '0xb52fdd8f3821cc60ba4583a822f03317de544bc2',
  }),
  seaport('other', 'okx', { [ETH]: '0x90a77dd8ae0525e08b1c2930eb2eb650e78c6725' }),
  seaport('other', 'quix', { [OPTIMISM]: '0x998ef16ea4111094eb5ee72fc2c6f4e6e8647666' }),
];

function everywhere(address: string): Readonly<Record<number, string>> {
  return Object.fromEntries(ALL.map((chainId) => [chainId, address]));
}

function seaport(name: MarketplaceName, protocol: string, known: Readonly<Record<number, string>>): Marketplace {
  return {
    name,
    protocol,
    topics: [ORDER_FULFILLED.topic, ORDERS_MATCHED.topic],
    addresses: deployments(protocol, known),
    fills,
  };
}

function fills(own: readonly Log[], transaction: TradeTransaction): Fill[] {
  const contracts = [...Map.groupBy(own, (log) => log.address).values()];
  return contracts.flatMap((logs) => seaportFills(logs, transaction));
}
