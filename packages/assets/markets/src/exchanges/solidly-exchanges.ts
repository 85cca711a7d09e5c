import { type Exchange, exchange } from './exchange.ts';
import { solidly1, solidly2 } from './families.ts';

export const solidlyExchanges: readonly Exchange[] = [
  exchange('Aerodrome', solidly2, { cloneOf: '0xa4e46b4f701c62e14df11b48dce76a7d793cd6d7' }, [
    [8453, '0x420dd381b31aef6683db6b902084cb0ffece40da', null],
  ]),
  exchange('Velodrome', solidly1, '0xc1ac28b1c4ebe53c0cff67bab5878c4eb68759bb1e9f73977cd266b247d149f0', [
    [10, '0x25cbddb98b35ab1ff77413456b31ec81a6b6b746', 10_078_686],
  ]),
  exchange('Velodrome v2', solidly2, { cloneOf: '0x95885af5492195f0754be71ad1545fe81364e531' }, [
    [10, '0xf1046053aa5682b4f9a81b5481394da16be5ff5a', 105_896_804],
  ]),
  exchange('LeetSwap', solidly1, null, [[8453, '0x169c06b4cfb09bfd73a81e6f2bb1eb514d75bb19', null]]),
  exchange('Nile v1', solidly1, null, [[59_144, '0xaaa16c016bf556fcd620328f0759252e29b1ab57', null]]),
  exchange('Thena', solidly1, '0x8d3d214c094a9889564f695c3e9fa516dd3b50bc3258207acd7f8b8e6b94fb65', [
    [56, '0xafd89d21bdb66d00817d4153e055830b1c2b3970', null],
  ]),
  exchange('Dystopia', solidly1, '0x009bce6d7eb00d3d075e5bd9851068137f44bba159f1cde806a268e20baaf2e8', [
    [137, '0x1d21db6cde1b18c7e47b0f7f42f4b3f68b9beec9', null],
  ]),
  exchange('Blackhole', solidly1, null, [[43_114, '0xfe926062fb99ca5653080d6c14fe945ad68c265c', null]]),
];
