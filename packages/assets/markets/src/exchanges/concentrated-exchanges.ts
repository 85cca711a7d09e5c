import { type Exchange, exchange } from './exchange.ts';
import { algebra, algebraIntegral, kyberElastic, slipstream, v3, v3Pancake } from './families.ts';

export const concentratedExchanges: readonly Exchange[] = [
  exchange('Uniswap v3', v3, '0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54', [
    [1, '0x1f98431c8ad98523631ae4a59f267346ea31f984', 12_369_621],
    [10, '0x1f98431c8ad98523631ae4a59f267346ea31f984', 0],
    [42_161, '0x1f98431c8ad98523631ae4a59f267346ea31f984', 165],
    [137, '0x1f98431c8ad98523631ae4a59f267346ea31f984', 22_757_547],
    [8453, '0x33128a8fc17869897dce68ed026d694621f6fdfd', 1_371_680],
    [56, '0xdb1d10011ad0ff90774d0c6bb92e5c5c8b4461f7', 26_324_014],
    [43_114, '0x740b1c1de25031c31ff4fc9a62f554a55cdc1bad', 27_832_972],
    [100, '0xe32f7dd7e3f098d518ff19a22d5f028e076489b1', 27_416_614],
    [59_144, '0x31fafd4889fa1269f7a13a66ee0fb458f27d72a9', 25_247],
    [1284, '0x28f1158795a3585caaa3cd6469cd65382b89bb70', 4_313_505],
    [143, '0x204faca1764b154221e35c0d20abb3c525710498', 29_255_827],
    [1329, '0x75fc67473a91335b5b8f8821277262a13b38c9b3', 79_245_151],
    [1135, '0x0d922fb1bc191f64970ac40376643808b4b74df9', 577_168],
  ]),
  exchange('Sushiswap v3', v3, '0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54', [
    [10, '0x9c6522117e2ed1fe5bdb72bb0ed5e3f2bde7dbe0', 85_432_013],
    [8453, '0xc35dadb65012ec5796536bd9864ed8773abc74c4', 1_759_510],
    [1, '0xbaceb8ec6b9355dfc0269c18bac9d6e2bdc29c4f', 16_955_547],
    [42_161, '0x1af415a1eba07a4986a52b6f2e7de7003d82231e', 75_998_697],
    [137, '0x917933899c6a5f8e37f31e19f92cdbff7e8ff0e2', 41_024_971],
    [43_114, '0x3e603c14af37ebdad31709c4f848fc6ad5bec715', 28_186_391],
    [56, '0x126555dd55a39328f69400d6ae4f782bd4c34abb', 26_976_538],
    [250, '0x7770978eed668a3ba661d51a773d3a992fc9ddcb', 58_860_670],
    [100, '0xf78031cbca409f2fb6876bdfdbc1b2df24cf9bef', 27_232_871],
    [59_144, '0xc35dadb65012ec5796536bd9864ed8773abc74c4', 53_256],
  ]),
  exchange(
    'Quickswap v3',
    algebra,
    {
      initCodeHash: '0x6ec6c9c8091d160c0aa74b2b14ba9c1717e95093bd3ac085cee99a49aab294a4',
      deployer: '0x2d98e2fa9da15aa6dc9581ab097ced7af697cb92',
    },
    [[137, '0x411b0facc3489691f28ad58c47006af5e3ab3a28', 32_610_688]],
  ),
  exchange('Quickswap v4', algebraIntegral, null, [
    [8453, '0xc5396866754799b9720125b104ae01d935ab9c7b', 30_736_835],
    [137, '0x134c1dbe4860a9caaf89002574ffe814772d9904', 85_606_804],
  ]),
  exchange(
    'PancakeSwap v3',
    v3Pancake,
    {
      initCodeHash: '0x6ce8eb472fa82df5469c6ab6d485f17c3ad13c8cd7af59b3d4a8026c5ce0f7e2',
      deployer: '0x41ff9aa7e16b8b1a8a8dc4f0efacd93d02d071c9',
    },
    [
      [56, '0x0bfbcf9fa4f9c56b0f40a671ad40e0805a091865', 26_956_207],
      [1, '0x0bfbcf9fa4f9c56b0f40a671ad40e0805a091865', 16_950_686],
      [42_161, '0x0bfbcf9fa4f9c56b0f40a671ad40e0805a091865', 101_028_949],
      [8453, '0x0bfbcf9fa4f9c56b0f40a671ad40e0805a091865', 2_912_007],
      [59_144, '0x0bfbcf9fa4f9c56b0f40a671ad40e0805a091865', 1445],
      [143, '0x0bfbcf9fa4f9c56b0f40a671ad40e0805a091865', 23_058_782],
      [204, '0x0bfbcf9fa4f9c56b0f40a671ad40e0805a091865', null],
    ],
  ),
  exchange('Pangolin v3', v3, null, [
    [43_114, '0x1128f23d0bc0a8396e9fbc3c0c68f5ea228b8256', 59_708_285],
    [143, '0x44805f92db5bb31b54632a55fc4b2b7e885b0e0e', null],
  ]),
  exchange(
    'Camelot v3',
    algebra,
    {
      initCodeHash: '0x6c1bebd370ba84753516bc1393c0d0a6c645856da55f5393ac8ab3d6dbc861d3',
      deployer: '0x6dd3fb9653b10e806650f107c3b5a0a6ff974f65',
    },
    [[42_161, '0x1a3c9b1d2f0529d97f2afc5136cc23e58f1fd35b', 75_633_510]],
  ),
  exchange('Ramses v2', v3, '0x1565b129f2d1790f12d45301b9b084335626f0c92410bc43130763b69971135d', [
    [42_161, '0xaa2cd7477c451e703f3b9ba5663334914763edf8', 90_593_047],
  ]),
  exchange('Aerodrome Slipstream', slipstream, { cloneOf: '0xec8e5342b19977b4ef8892e02d8daecfa1315831' }, [
    [8453, '0x5e7bb104d84c7cb9b682aac2f3d509f5f406809a', null],
    [
      8453,
      '0xade65c38cd4849adba595a4323a8c7ddfe89716a',
      null,
      { cloneOf: '0x942e97a4c6fdc38b4cd1c0298d37d81fdd8e5a16' },
    ],
    [8453, '0xf8f2eb4940cfe7d13603dddd87f123820fc061ef', null, null],
    [8453, '0x9592cd9b267748cbfbde90ac9f7df3c437a6d51b', null, null],
  ]),
  exchange('Velodrome Slipstream', slipstream, { cloneOf: '0xc28ad28853a547556780bebf7847628501a3bcbb' }, [
    [10, '0xcc0bddb707055e04e497ab22a59c2af4391cd12f', null],
  ]),
  exchange('BaseX', v3, '0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54', [
    [8453, '0x38015d05f4fec8afe15d7cc0386a126574e8077b', 3_152_527],
  ]),
  exchange('AlienBase v3', v3, '0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54', [
    [8453, '0x0fd83557b2be93617c9c1c1b6fd549401c74558c', 7_150_708],
  ]),
  exchange('Nile', v3, null, [[59_144, '0xaaa32926fce6be95ea2c51cb4fcb60836d320c42', 1_768_897]]),
  exchange('Lynex', algebra, null, [[59_144, '0x622b2c98123d303ae067db4925cd6282b3a08d0f', 143_660]]),
  exchange('Pharaoh', v3, null, [
    [43_114, '0xaaa32926fce6be95ea2c51cb4fcb60836d320c42', 38_764_597],
    [43_114, '0xae6e5c62328ade73ceefd42228528b70c8157d0d', 68_700_645],
  ]),
  exchange('Beamswap v3', v3, null, [[1284, '0xd118fa707147c54387b738f54838ea5dd4196e71', 3_579_833]]),
  exchange('StellaSwap v3', algebra, null, [[1284, '0xabe1655110112d0e45ef91e94f8d757e4ddba59c', 2_649_801]]),
  exchange('Katana v3', v3, null, [[2020, '0x1f0b70d9a137e3caef0ceacd312bc5f81da0cc0c', 40_105_252]]),
  exchange('9inch v3', v3Pancake, null, [[369, '0xcfd33c867c9f031aadff7939cb8086ee5ae88c41', 20_357_155]]),
  exchange('9mm v3', v3Pancake, null, [[369, '0xe50dbdc88e87a2c92984d794bcf3d1d76f619c68', 18_942_139]]),
  exchange('Solidly v3', v3, null, [
    [1, '0x70fe4a44ea505cfa3a57b95cf2862d4fd5f0f687', 18_044_650],
    [10, '0x70fe4a44ea505cfa3a57b95cf2862d4fd5f0f687', 115_235_065],
    [8453, '0x70fe4a44ea505cfa3a57b95cf2862d4fd5f0f687', 9_672_720],
    [42_161, '0x70fe4a44ea505cfa3a57b95cf2862d4fd5f0f687', 173_576_189],
    [250, '0x70fe4a44ea505cfa3a57b95cf2862d4fd5f0f687', 73_057_898],
  ]),
  exchange('Thena v3', algebra, null, [[56, '0x306f06c147f064a010530292a1eb6737c3e378e4', 26_030_310]]),
  exchange('Retro', v3, null, [[137, '0x91e1b99072f238352f59e58de875691e20dc19c1', 43_939_793]]),
  exchange(
    'KyberSwap Elastic',
    kyberElastic,
    '0xc597aba1bb02db42ba24a8878837965718c032f8b46be94a6e46452a9f89ca01',
    [
      [137, '0x5f1dddbf348ac2fbe22a163e30f99f9ece3dd50a', null],
      [
        137,
        '0xc7a590291e07b9fe9e64b86c58fd8fc764308c4a',
        null,
        '0x00e263aaa3a2c06a89b53217a9e7aad7e15613490a72e0f95f303c4de2dc7045',
      ],
    ],
  ),
  exchange(
    'Swapr v3',
    algebra,
    {
      initCodeHash: '0xbce37a54eab2fcd71913a0d40723e04238970e7fc1159bfd58ad5b79531697e7',
      deployer: '0xc1b576ac6ec749d5ace1787bf9ec6340908ddb47',
    },
    [[100, '0xa0864cca6e114013ab0e27cbd5b6f4c8947da766', null]],
  ),
  exchange('Thena v3', algebraIntegral, null, [[56, '0x30055f87716d3dfd0e5198c27024481099fb4a98', 44_121_855]]),
  exchange('Blackhole CL', algebraIntegral, null, [[43_114, '0x512eb749541b7cf294be882d636218c84a5e9e5f', null]]),
  exchange('SyncSwap v3', algebra, null, [[59_144, '0xc5916f6cf441c72daa2e2c48afc7ce642eee6690', null]]),
];
