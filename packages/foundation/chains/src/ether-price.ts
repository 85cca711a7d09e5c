import { type Address, parseAddress } from '@chainstead/core';
import type { PriceFeed } from './price-feeds.ts';

export interface EtherPool {
  readonly address: Address;
  readonly protocol: 'uniswap-v3' | 'pancakeswap-v3';
  readonly etherIs: 'token0' | 'token1';
  readonly dollarDecimals: number;
}

export interface EtherPriceSources {
  readonly feed: PriceFeed | null;
  /** Most trusted first. Only for chains without a feed: swaps are many. */
  readonly pools: readonly EtherPool[];
}

export const NO_ETHER_PRICE: EtherPriceSources = { feed: null, pools: [] };

/** From Chainlink's reference data, Uniswap's and PancakeSwap's factories. */
export function etherPriceSources(chainId: number): EtherPriceSources {
  return SOURCES[chainId] ?? NO_ETHER_PRICE;
}

/** Every ETH/USD feed has eight decimals. */
const feed = (proxy: string, ...aggregators: string[]): PriceFeed => ({
  proxy: parseAddress(proxy),
  decimals: 8,
  aggregators: aggregators.map(parseAddress),
});

const pool = (
  protocol: EtherPool['protocol'],
  address: string,
  etherIs: EtherPool['etherIs'],
  dollarDecimals: number,
): EtherPool => ({ address: parseAddress(address), protocol, etherIs, dollarDecimals });

const SOURCES: Readonly<Record<number, EtherPriceSources>> = {
  1: {
    feed: feed(
      '0x5f4eC3Df9cbd43714FE2740f5E3616155c5b8419',
      '0x7d4E742018fb52E48b08BE73d041C18B21de6Fb5',
      '0xE62B71cf983019BFf55bC83B48601ce8419650CC',
    ),
    pools: [pool('uniswap-v3', '0x88e6A0c2dDD26FEEb64F039a2c41296FcB3f5640', 'token1', 6)],
  },
  10: {
    feed: feed('0x13e3Ee699D1909E989722E753853AE30b17e08c5', '0x02f5E9e9dcc66ba6392f6904D5Fcf8625d9B19C9'),
    pools: [
      pool('uniswap-v3', '0x1fb3cf6e48F1E7B10213E7b6d87D4c073C7Fdb7b', 'token1', 6),
      pool('uniswap-v3', '0x85149247691df622eaF1a8Bd0CaFd40BC45154a9', 'token0', 6),
    ],
  },
  56: {
    feed: feed(
      '0x9ef1B8c0E4F7dc8bF5719Ea496883DC6401d5b2e',
      '0x4b09a53349F9a59015521406CE580fD2E40d4E36',
      '0xfC3069296a691250fFDf21fe51340fdD415a76ed',
    ),
    // Dollar tokens have 18 decimals here. Uniswap's pool is thin, so it is second.
    pools: [
      pool('pancakeswap-v3', '0xBe141893E4c6AD9272e8C04BAB7E6a10604501a5', 'token0', 18),
      pool('uniswap-v3', '0x17507bEF4c3abC1Bc715be723eE1baF571256E05', 'token0', 18),
    ],
  },
  100: {
    feed: feed('0xa767f745331D267c7751297D982b050c93985627', '0x059e7Bd8157e0d302dF3626E162B6C835340b311'),
    pools: [],
  },
  137: {
    feed: feed('0xF9680D99D6C9589e2a93a78A04A279e509205945', '0x63db7e86391F5d31BAB58808Bcf75eDB272F4F5C'),
    pools: [
      pool('uniswap-v3', '0xA4D8c89f0c20efbe54cBa9e7e7a7E509056228D9', 'token1', 6),
      pool('uniswap-v3', '0x45dDa9cb7c25131DF268515131f647d726f50608', 'token1', 6),
    ],
  },
  324: {
    feed: feed('0x6D41d1dc818112880b40e26BD6FD347E41008eDA', '0xB43Ea5b13F41aAC35703124f826ec0F3a3CABE0E'),
    pools: [],
  },
  5000: {
    feed: feed('0x5bc7Cf88EB131DB18b5d7930e793095140799aD5', '0x1e4677728c66E6dB0a4029D6717Ff2c7B1cc379b'),
    pools: [],
  },
  8453: {
    feed: feed(
      '0x71041dddad3595F9CEd3DcCFBe3D1F4b0a16Bb70',
      '0x05c84a58fe042275b37db038baacd15f410c7bb0',
      '0x57d2d46Fc7ff2A7142d479F2f59e1E3F95447077',
    ),
    pools: [pool('uniswap-v3', '0xd0b53D9277642d899DF5C87A3966A349A798F224', 'token0', 6)],
  },
  42161: {
    feed: feed('0x639Fe6ab55C921f74e7fac1ee960C0B6293ba612', '0x3607e46698d218B3a5Cae44bF381475C0a5e2ca7'),
    pools: [
      pool('uniswap-v3', '0xC6962004f452bE9203591991D15f6b388e09E8D0', 'token0', 6),
      pool('uniswap-v3', '0xC31E54c7a869B9FcBEcc14363CF510d1c41fa443', 'token0', 6),
    ],
  },
  43114: {
    feed: feed(
      '0x976B3D034E162d8bD72D6b9C989d545b839003b0',
      '0x9ff520924dC295074F43a8a01Ee30a4D39a4223b',
      '0xEfaa69f461E0aaf0be1798b01371Daf14AC55eA8',
    ),
    pools: [pool('uniswap-v3', '0x43fb9c3fd6715e872272B0CAAB968A97692726EB', 'token0', 6)],
  },
  59144: {
    feed: feed('0x3c6Cd9Cc7c7a4c2Cf5a82734CD249D7D593354dA', '0x0635163285C6ef5692167F18b799FB339DF064f8'),
    pools: [],
  },
};
