import { type Exchange, exchange } from './exchange.ts';
import { balancer2, balancer3, infinity, infinityBin, v4 } from './families.ts';

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
