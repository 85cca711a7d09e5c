import { type Exchange, exchange } from './exchange.ts';
import { liquidityBook1, liquidityBook2 } from './families.ts';

export const liquidityBookExchanges: readonly Exchange[] = [
  exchange('Trader Joe (Liquidity Book 2.0)', liquidityBook1, null, [
    [43_114, '0x6e77932a92582f504ff6c4bdbcef7da6c198aeef', null],
    [42_161, '0x1886d09c9ade0c5db822d85d21678db67b6c2982', null],
    [56, '0x43646a8e839b2f2766392c1bf8f60f6e587b6960', null],
  ]),
  exchange('Trader Joe (Liquidity Book 2.1)', liquidityBook2, null, [
    [43_114, '0x8e42f2f4101563bf679975178e880fd87d3efd4e', null],
    [42_161, '0x8e42f2f4101563bf679975178e880fd87d3efd4e', 77_473_199],
    [56, '0x8e42f2f4101563bf679975178e880fd87d3efd4e', 27_099_340],
    [1, '0xdc8d77b69155c7e68a95a4fb0f06a71ff90b943a', null],
  ]),
  exchange('Trader Joe (Liquidity Book 2.2)', liquidityBook2, null, [
    [43_114, '0xb43120c4745967fa9b93e79c149e66b0f2d6fe0c', 46_536_129],
    [42_161, '0xb43120c4745967fa9b93e79c149e66b0f2d6fe0c', 220_345_864],
    [143, '0xb43120c4745967fa9b93e79c149e66b0f2d6fe0c', null],
  ]),
];
