import { type Exchange, exchange } from './exchange.ts';
import { balancer1, curve, curveCrypto } from './families.ts';

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
