import { type Exchange, exchange } from './exchange.ts';
import {
  balancer1,
  balancer2,
  balancer3,
  curve,
  curveCrypto,
  infinity,
  infinityBin,
  liquidityBook1,
  liquidityBook2,
  solidly1,
  solidly2,
  v4,
} from './families.ts';

export const otherExchanges: readonly Exchange[] = [
  exchange('Balancer v1', balancer1, null, [[1, '0x9424b1412450d0f8fc2255faf6046b98213b76bd', 9_562_480]]),
  exchange('Curve (StableSwap factory)', curve, null, [
    [1, '0xb9fc157394af804a3578134a6585c0dc9cc990d4', 12_903_979],
    [137, '0x722272d36ef0da72ff51c5a65db7b870e2e8d4ee', null],
    [42_161, '0xb17b674d9c5cb2e441f8e196a2f048a81355d031', null],
    [10, '0x2db0e83599a91b508ac268a6197b8b14f5e72840', null],
    [100, '0xd19baeadc667cf2015e395f2b08668ef120f41f5', null],
    [8453, '0x3093f9b57a428f3eb6285a589cb35bea6e78c336', null],
    [56, '0xefde221f306152971d8e9f181bfe998447975810', null],
  ]),
  exchange('Curve (StableSwap-NG factory)', curve, null, [
    [1, '0x6a8cbed756804b16e05e741edabd5cb544ae21bf', null],
    [137, '0x1764ee18e8b3cca4787249ceb249356192594585', null],
    [42_161, '0x9af14d26075f142eb3f292d5065eb3faa646167b', null],
    [10, '0x5eee3091f747e60a045a2e715a4c71e600e31f6e', null],
    [100, '0xbc0797015fcfc47d9c1856639cae50d0e69fbee8', null],
    [8453, '0xd2002373543ce3527023c75e7518c274a51ce712', null],
    [56, '0xd7e72f3615aa65b92a4dbdc211e296a35512988b', null],
  ]),
  exchange('Curve (Twocrypto-NG factory)', curveCrypto, null, [
    [1, '0x98ee851a00abee0d95d08cf4ca2bdce32aeaaf7f', null],
    [137, '0x98ee851a00abee0d95d08cf4ca2bdce32aeaaf7f', null],
    [42_161, '0x98ee851a00abee0d95d08cf4ca2bdce32aeaaf7f', null],
    [10, '0x98ee851a00abee0d95d08cf4ca2bdce32aeaaf7f', null],
    [100, '0x98ee851a00abee0d95d08cf4ca2bdce32aeaaf7f', null],
    [8453, '0xc9fe0c63af9a39402e8a5514f9c43af0322b665f', null],
    [56, '0x98ee851a00abee0d95d08cf4ca2bdce32aeaaf7f', null],
  ]),
  exchange('Curve (Tricrypto-NG factory)', curveCrypto, null, [
    [1, '0x0c0e5f2ff0ff18a3be9b835635039256dc4b4963', 17_371_439],
    [137, '0xc1b393efef38140662b91441c6710aa704973228', null],
    [42_161, '0xbc0797015fcfc47d9c1856639cae50d0e69fbee8', null],
    [10, '0xc6c09471ee39c7e30a067952fcc89c8922f9ab53', null],
    [100, '0xb47988ad49dce8d909c6f9cf7b26caf04e1445c8', null],
    [8453, '0xa5961898870943c68037f6848d2d866ed2016bcb', null],
    [56, '0x38f8d93406fa2d9924dcfcb67db5b0521fb20f7d', null],
  ]),
];

export const managedExchanges: readonly Exchange[] = [
  exchange('Uniswap v4', v4, null, [
    [
      1,
      '0x000000000004444c5dc75cb358380d2e3de08a90',
      21_688_329,
      null,
      '0xbd216513d74c8cf14cf4747e6aaa6420ff64ee9e',
    ],
    [
      10,
      '0x9a13f98cb987694c9f086b1f5eb990eea8264ec3',
      130_947_675,
      null,
      '0x3c3ea4b57a46241e54610e5f022e5c45859a1017',
    ],
    [
      8453,
      '0x498581ff718922c3f8e6a244956af099b2652b2b',
      25_350_988,
      null,
      '0x7c5f5a4bbd8fd63184577525326123b519429bdc',
    ],
    [
      42_161,
      '0x360e68faccca8ca495c1b759fd9eee466db9fb32',
      297_842_872,
      null,
      '0xd88f38f930b7952f2db2432cb002e7abbf3dd869',
    ],
    [
      137,
      '0x67366782805870060151383f4bbff9dab53e5cd6',
      66_980_384,
      null,
      '0x1ec2ebf4f37e7363fdfe3551602425af0b3ceef9',
    ],
    [
      43_114,
      '0x06380c0e0912312b5150364b9dc4542ba0dbbc85',
      56_195_376,
      null,
      '0xb74b1f14d2754acfcbbe1a221023a5cf50ab8acd',
    ],
    [56, '0x28e2ea090877bf75740558f6bfb36a5ffee9e9df', 45_970_610],
    [59_144, '0x248083fb965359d82b06c1f5322480dcfc1ad857', null],
    [143, '0x188d586ddcf52439676ca21a244753fa19f9ea8e', 29_255_895],
  ]),
  exchange('PancakeSwap Infinity', infinity, null, [
    [56, '0xa0ffb9c1ce1fe56963b0321b32e7a0302114058b', 47_214_308],
    [8453, '0xa0ffb9c1ce1fe56963b0321b32e7a0302114058b', 30_544_106],
  ]),
  exchange('Balancer v2', balancer2, null, [
    [1, '0xba12222222228d8ba445958a75a0704d566bf2c8', 12_272_146],
    [137, '0xba12222222228d8ba445958a75a0704d566bf2c8', 15_832_990],
    [42_161, '0xba12222222228d8ba445958a75a0704d566bf2c8', 222_832],
    [10, '0xba12222222228d8ba445958a75a0704d566bf2c8', 7_003_431],
    [100, '0xba12222222228d8ba445958a75a0704d566bf2c8', 24_821_598],
    [8453, '0xba12222222228d8ba445958a75a0704d566bf2c8', 1_196_036],
    [43_114, '0xba12222222228d8ba445958a75a0704d566bf2c8', 26_386_141],
    [250, '0x20dd72ed959b6147912c2e529f0a0c651c33c9ce', 16_896_080],
  ]),
  exchange('Balancer v3', balancer3, null, [
    [1, '0xba1333333333a1ba1108e8412f11850a5c319ba9', 21_332_121],
    [100, '0xba1333333333a1ba1108e8412f11850a5c319ba9', 37_360_338],
    [42_161, '0xba1333333333a1ba1108e8412f11850a5c319ba9', 297_810_187],
    [8453, '0xba1333333333a1ba1108e8412f11850a5c319ba9', 25_343_854],
    [10, '0xba1333333333a1ba1108e8412f11850a5c319ba9', 133_969_439],
    [43_114, '0xba1333333333a1ba1108e8412f11850a5c319ba9', 59_955_604],
    [143, '0xba1333333333a1ba1108e8412f11850a5c319ba9', 22_091_249],
  ]),
  exchange('PancakeSwap Infinity', infinityBin, null, [
    [56, '0xc697d2898e0d09264376196696c51d7abbbaa4a9', null],
    [8453, '0xc697d2898e0d09264376196696c51d7abbbaa4a9', null],
  ]),
];

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
