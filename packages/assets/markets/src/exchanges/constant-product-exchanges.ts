import { type Exchange, exchange } from './exchange.ts';
import { v2 } from './families.ts';

/** PancakeSwap v2 except on BNB Smart Chain. */
const PANCAKE_CODE = '0x57224589c67f3f30a6b0d7a1b54cf3153ab84563bc609ef41dfb34f8b2974d2d';

export const constantProductExchanges: readonly Exchange[] = [
  exchange('Uniswap v2', v2, '0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f', [
    [1, '0x5c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f', 10_000_835],
    [10, '0x0c3c1c532f1e39edf36be9fe0be1410313e074bf', 112_197_986],
    [56, '0x8909dc15e40173ff4699343b6eb8132c65e18ec6', 33_496_018],
    [137, '0x9e5a52f57b3038f1b8eee45f28b3c1967e22799c', 49_948_178],
    [143, '0x182a927119d56008d921126764bf884221b10f59', null],
    [8453, '0x8909dc15e40173ff4699343b6eb8132c65e18ec6', 6_601_915],
    [42_161, '0xf1d7cc64fb4452f05c498126312ebe29f30fbcf9', 150_442_611],
    [43_114, '0x9e5a52f57b3038f1b8eee45f28b3c1967e22799c', 37_767_795],
    [59_144, '0x114a43df6c5f54ebb8a9d70cd1951d3dd68004c7', null],
  ]),
  exchange('Sushiswap v2', v2, '0xe18a34eb0e04b04f7a0ac29a6e80748dca96319b42c54d679cb821dca90c6303', [
    [1, '0xc0aee478e3658e2610c5f7a4a2e1777ce9e4f2ac', 10_794_229],
    [137, '0xc35dadb65012ec5796536bd9864ed8773abc74c4', 11_333_218],
    [42_161, '0xc35dadb65012ec5796536bd9864ed8773abc74c4', 70],
    [56, '0xc35dadb65012ec5796536bd9864ed8773abc74c4', 5_205_069],
    [43_114, '0xc35dadb65012ec5796536bd9864ed8773abc74c4', 506_190],
    [250, '0xc35dadb65012ec5796536bd9864ed8773abc74c4', 2_457_879],
    [100, '0xc35dadb65012ec5796536bd9864ed8773abc74c4', 14_735_904],
    [1284, '0xc35dadb65012ec5796536bd9864ed8773abc74c4', null],
    [8453, '0x71524b4f93c58fcbf659783284e38825f0622859', 2_631_214],
    [10, '0xfbc12984689e5f15626bad03ad60160fe98b303c', 110_882_086],
    [59_144, '0xfbc12984689e5f15626bad03ad60160fe98b303c', 631_714],
  ]),
  exchange('Fraxswap', v2, null, [
    [1, '0x43ec799eadd63848443e2347c49f5f52e8fe0f6f', null],
    [1, '0xb076b06f669e682609fb4a8c6646d2619717be4b', null],
    [42_161, '0x8374a74a728f06bea6b7259c68aa7bbb732bfead', null],
    [42_161, '0x5ca135cb8527d76e932f34b5145575f9d8cbe08e', null],
    [43_114, '0xf77ca9b635898980fb219b4f4605c50e4ba58aff', null],
    [56, '0xf89e6ca06121b6d4370f4b196ae458e8b969a011', null],
    [250, '0xdc745e09fc459adc295e2e7baace881354db7f64', null],
    [1284, '0x51f9dbed76f5dcf209817f641b549aa82f35d23f', null],
    [137, '0x54f454d747e037da288db568d4121117eab34e79', null],
    [10, '0x67a1412d2d6cbf211bb71f8e851b4393b491b10f', null],
  ]),
  exchange('Quickswap v2', v2, '0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f', [
    [137, '0x5757371414417b8c6caad45baef941abc7d3ab32', 4_931_780],
    [8453, '0xec6540261aaae13f236a032d454dc9287e52e56a', null],
  ]),
  exchange('PancakeSwap v1', v2, '0xd0d4c4cd0848c93cb4fd1f498d7013ee6bfb25783ea21593d5834f5d250ece66', [
    [56, '0xbcfccbde45ce874adcb698cc183debcf17952812', null],
  ]),
  exchange('PancakeSwap v2', v2, '0x00fb7f630766e6a796048ea87d01acd3068e8ff67d078148a3fa3f4a84f69bd5', [
    [56, '0xca143ce32fe78f1f7019d7d551a6402fc5350c73', 6_809_737],
    [1, '0x1097053fd2ea711dad45caccc45eff7548fcb362', null, PANCAKE_CODE],
    [42_161, '0x02a84c1b3bbd7401a5f7fa98a384ebc70bb5749e', null, PANCAKE_CODE],
    [8453, '0x02a84c1b3bbd7401a5f7fa98a384ebc70bb5749e', null, PANCAKE_CODE],
    [59_144, '0x02a84c1b3bbd7401a5f7fa98a384ebc70bb5749e', null, PANCAKE_CODE],
    [143, '0x02a84c1b3bbd7401a5f7fa98a384ebc70bb5749e', null, PANCAKE_CODE],
    [204, '0x02a84c1b3bbd7401a5f7fa98a384ebc70bb5749e', null, null],
  ]),
  exchange('Trader Joe', v2, '0x0bbca9af0511ad1a1da383135cf3a8d2ac620e549ef9f6ae3a4c33c2fed0af91', [
    [43_114, '0x9ad6c38be94206ca50bb0d90783181662f0cfa10', 2_486_392],
    [42_161, '0xae4ec9901c3076d0ddbe76a520f9e90a6227acb7', 47_838_075],
    [56, '0x4f8bdc85e3eec5b9de67097c3f59b6db025d9986', 26_142_762],
    [143, '0xe32d45c2b1c17a0fe0de76f1ebfa7c44b7810034', null],
  ]),
  exchange('Pangolin', v2, '0x40231f6b438bce0797c9ada29b718a87ea0a5cea3fe9a771abdd76bd41a3e545', [
    [43_114, '0xefa94de7a4656d787667c749f7e1223d71e9fd88', 56_877],
  ]),
  exchange('Camelot v2', v2, '0xa856464ae65f7619087bc369daaf7e387dae1e5af69cfa7935850ebf754b04c1', [
    [42_161, '0x6eccab422d763ac031210895c81787e87b43a652', 35_061_163],
  ]),
  exchange('Sparta Dex', v2, null, [[42_161, '0xfe8ec10fe07a6a6f4a2584f8cd9fe232930eaf55', null]]),
  exchange('BaseSwap', v2, '0xb618a2730fae167f5f8ac7bd659dd8436d571872655bcb6fd11f2158c8a64a3b', [
    [8453, '0xfda619b6d20975be80a10332cd39b9a4b0faa8bb', 2_059_124],
  ]),
  exchange('Sharkswap', v2, null, [[8453, '0x57592d44eb60011500961ef177bff8d8691d5a8b', null]]),
  exchange('AlienBase', v2, null, [[8453, '0x3e84d913803b02a4a7f027165e8ca42c14c0fde7', null]]),
  exchange('RocketSwap', v2, null, [[8453, '0x1b8128c3a1b7d20053d10763ff02466ca7ff99fc', null]]),
  exchange('SwapBased', v2, null, [[8453, '0x04c9f118d21e8b767d2e50c946f0cc9f6c367300', null]]),
  exchange('SpookySwap', v2, '0xcdf2deca40a0bd56de8e3ce5c7df6727e5b1bf2ac96f283fa9c4b3e6b42ea9d2', [
    [250, '0x152ee697f2e276fa89e96742e9bb9ab1f2e61be3', 3_795_376],
  ]),
  exchange('SpiritSwap', v2, '0xe242e798f6cee26a9cb0bbf24653bf066e5356ffeac160907fe2cc108e238617', [
    [250, '0xef45d134b73241eda7703fa787148d9c9f4950b0', 4_250_094],
  ]),
  exchange('VVS Finance', v2, '0xa77ee1cc0f39570ddde947459e293d7ebc2c30ff4e8fc45860afdcb2c2d3dc17', [
    [25, '0x3b44b2a187a7b3824131f8db5a74194d0a42fc15', 4100],
  ]),
  exchange('MM Finance', v2, '0x7ae6954210575e79ea2402d23bc6a59c4146a6e6296118aa8b99c747afec8acf', [
    [25, '0xd590cc180601aecd6eeadd9b7f2b7611519544f4', 437_869],
    [137, '0x7cfb780010e9c861e03bcbc7ac12e013137d47a5', 31_337_344, null],
    [42_161, '0xfe3699303d3eb460638e8ada2bf1cff092c33f22', null, null],
  ]),
  exchange('Crodex', v2, '0x03f6509a2bb88d26dc77ecc6fc204e95089e30cb99667b85e653280b735767c8', [
    [25, '0xe9c29cb475c0ade80be0319b74ad112f1e80058f', null],
  ]),
  exchange('CronaSwap', v2, '0xc93158cffa5b575e32566e81e847754ce517f8fa988d3e25cf346d916216e06f', [
    [25, '0x73a48f8f521eb31c55c0e1274db0898de599cb11', null],
  ]),
  exchange('Beamswap', v2, null, [[1284, '0x985bca32293a7a496300a48081947321177a86fd', null]]),
  exchange('StellaSwap', v2, null, [[1284, '0x68a384d826d3678f78bb9fb1533c7e9577dacc0e', null]]),
  exchange('Katana', v2, null, [[2020, '0xb255d6a720bb7c39fee173ce22113397119cb930', 7_860_906]]),
  exchange('PulseX', v2, null, [
    [369, '0x1715a3e4a142d8b698131108995174f37aeba10d', null],
    [369, '0x29ea7545def87022badc76323f373ea1e707c523', null],
  ]),
  exchange('9inch', v2, null, [
    [369, '0x5b9f077a77db37f3be0a5b5d31baeff4bc5c0bd7', null],
    [1, '0xcbae5c3f8259181eb7e2309bc4c72fdf02dd56d8', null],
  ]),
  exchange('9mm', v2, null, [[369, '0x3a0fa7884dd93f3cd234bbe2a0958ef04b05e13b', null]]),
  exchange('ShibaSwap', v2, '0x65d1a3b1e46c6e4f1be1ad5f99ef14dc488ae0549dc97db9b30afe2241ce1c7a', [
    [1, '0x115934131916c8b277dd010ee02de363c09d037c', null],
  ]),
  exchange('DefiSwap', v2, '0x69d637e77615df9f235f642acebbdad8963ef35c5523142078c9b8f9d0ceba7e', [
    [1, '0x9deb29c9a4c7a88a3c0257393b7f3335338d9a9d', null],
  ]),
  exchange('Verse', v2, '0x34768b85d02b77066b16acc7f0875ed59566bb3c32ba4fb0438750e872fddf9e', [
    [1, '0xee3e9e46e34a27dc755a63e2849c9913ee1a06e2', null],
  ]),
  exchange('ApeSwap', v2, '0x511f0f358fe530cda0859ec20becf391718fdf5a329be02f4c95361f3d6a42d8', [
    [137, '0xcf083be4164828f00cae704ec15a36d711491284', 15_298_800],
    [
      56,
      '0x0841bd0b734e4f5853f0dd8d7ea041c241fb0da6',
      4_855_900,
      '0xf4ccce374816856d11f00e4069e7cada164065686fbef53c6167a63ec2fd8c5b',
    ],
  ]),
  exchange('Biswap', v2, '0xfea293c909d87cd4153593f077b76bb7e94340200f4ee84211ae8e4f9bd7ffdf', [
    [56, '0x858e3312ed3a876947ea49d572a7c42de08af7ee', 7_664_646],
  ]),
  exchange('JetSwap', v2, '0x505c843b83f01afef714149e8b174427d552e1aca4834b4f9b4b525f426ff3c6', [
    [137, '0x668ad0ed2622c62e24f0d5ab6b6ac1b9d2cd4ac7', null],
  ]),
  exchange('Polycat', v2, '0x3cad6f9e70e13835b4f07e5dd475f25a109450b22811d0437da51e66c161255a', [
    [137, '0x477ce834ae6b7ab003cce4bc4d8697763ff456fa', null],
  ]),
  exchange('Dfyn', v2, '0xf187ed688403aa4f7acfada758d8d53698753b998a3071b06f1b777f4330eaf3', [
    [137, '0xe7fb3e833efe5f9c441105eb65ef8b261266423b', null],
  ]),
  exchange('WaultSwap', v2, '0x1cdc2246d318ab84d8bc7ae2a3d81c235f3db4e113f4c6fdc1e2211a9291be47', [
    [137, '0xa98ea6356a316b44bf710d5f9b6b4ea0081409ef', null],
  ]),
  exchange('Honeyswap', v2, '0xdbd265d4828759db2a0351a7b97180bcc41449a038bcd08a45afe937147f6267', [
    [100, '0xa818b4f111ccac7aa31d0bcc0806d64f2e0737d7', 11_813_490],
    [137, '0x03daa61d8007443a6584e3d8f85105096543c19c', 14_599_890],
  ]),
  exchange('Swapr', v2, null, [[100, '0x5d48c95adffd4b40c1aaadc4e08fc44117e02179', null]]),
];
