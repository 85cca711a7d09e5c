/** topic0 of every event and addresses of every deployment, as known from chains. */

import { readFileSync } from 'node:fs';
import { createChainRegistry } from '@chainstead/chains';
import { recordedData } from '@chainstead/testkit';
import { describe, expect, test } from 'vitest';
import { marketplaces } from '../marketplaces.ts';
import { punkBids } from '../punk-bids.ts';

/**
 * topic0 of each event by protocol. Those of Payment Processor v1's bundles come from its source, the others from
 * chains.
 */
const SEAPORT = [
  '0x9d9af8e38d66c62e2c12f0225249fd9d721c54b83f48d9352c97c6cacdcb6f31',
  '0x4b9f2d36e1b4c93de62cc077b00b1a91d84b6c31b4a14e012718dcca230689e7',
];
const WYVERN = ['0xc4109843e0b7d514e4c093114b863f8e7d8d9a458c372cd51bfe526b588006c9'];
const LOOKSRARE_V1 = [
  '0x95fb6205e23ff6bda16a2d1dba56b9ad7c783f67c96fa149785052f47696f2be',
  '0x68cd251d4d267c6e2034ff0088b990352b97b2002c0476587d0c4da889c11330',
];
const PAYMENT_PROCESSOR = [
  '0xffb29e9cf48456d56b6d414855b66a7ec060ce2054dcb124a1876310e1b7355c',
  '0x1217006325a98bdcc6afc9c44965bb66ac7460a44dc57c2ac47622561d25c45a',
  '0x8b87c0b049fe52718fe6ff466b514c5a93c405fb0de8fbd761a23483f9f9e198',
  '0x6f4c56c4b9a9d2479f963d802b19d17b02293ce1225461ac0cb846c482ee3c3e',
];
const TOPICS: Readonly<Record<string, readonly string[]>> = {
  'seaport-1.1': SEAPORT,
  'seaport-1.2': SEAPORT,
  'seaport-1.3': SEAPORT,
  'seaport-1.4': SEAPORT,
  'seaport-1.5': SEAPORT,
  'seaport-1.6': SEAPORT,
  alienswap: SEAPORT,
  okx: SEAPORT,
  quix: SEAPORT,
  'wyvern-2.2': WYVERN,
  'wyvern-2.3': WYVERN,
  'looksrare-v1': LOOKSRARE_V1,
  joepegs: LOOKSRARE_V1,
  'looksrare-v2': [
    '0x3ee3de4684413690dee6fff1a0a4f92916a1b97d1c5a83cdf24671844306b2e3',
    '0x9aaa45d6db2ef74ead0751ea9113263d1dec1b50cea05f0ca2002cb8063564a4',
  ],
  'x2y2-r1': [
    '0x3cbb63f144840e5b1b0a38a7c19211d2e89de4d7c5faf8b2d3c1776c302d1d33',
    '0xe2c49856b032c255ae7e325d18109bc4e22a2804e2e49a017ec0f59f19cd447b',
  ],
  '0x-v4': [
    '0x50273fa02273cceea9cf085b42de5c8af60624140168bd71357db833535877af',
    '0x20cca81b0e269b265b3229d6b537da91ef475ca0ef55caed7dd30731700ba98d',
  ],
  '0x-v3': ['0x6869791f0a34781b29882982cc39e882768cf2c96995c2a110c577c53bc932d5'],
  cryptopunks: ['0x58e5d5a525e3b40bc15abaa38b5882678db1ee68befd2f60bafe3a7fd06db9e3'],
  foundation: [
    '0xd28c0a7dd63bc853a4e36306655da9f8c0b29ff9d0605bb976ae420e46a99930',
    '0x1cb8adb37d6d35e94cd0695ca39895b84371864713f5ca7eada52af9ff23744b',
    '0x6c623fa5e13aaaf28288f807e5b4f9ec6fb7ef812568e00317c552663bea918f',
    '0x2edb0e99c6ac35be6731dab554c1d1fa1b7beb675090dbb09fb14e615aca1c4a',
  ],
  'superrare-market': [
    '0x5764dbcef91eb6f946584f4ea671217c686fa7e858ce4f9f42d08422b86556a9',
    '0x2a9d06eec42acd217a17785dbec90b8b4f01a93ecd8c127edd36bfccf239f8b6',
  ],
  'superrare-bazaar': [
    '0x6f9e7bc841408072f4a49e469f90e1a634b85251803662bc8e5c220b28782472',
    '0x97c3d2068ce177bc33d84acecc45eededcf298c4a9d4340ae03d4afbb3993f7b',
    '0xef4e2262a841641690bb931801dc0d1923e6b417cd217f91f8049d8aa9f5f086',
  ],
  'zora-asks-v1.1': ['0x21a9d8e221211780696258a05c6225b1a24f428e2fd4d51708f1ab2be4224d39'],
  'zora-auctions-v2': ['0x4f35fb3ea0081b3ccbe8df613cab0f9e1694d50a025e0aa09b88a86a3d07c2de'],
  'rarible-v1': ['0xdddcdb07e460849cf04a4445b7af9faf01b7f5c7ba75deaf969ac5ed830312c3'],
  'rarible-v2': [
    '0x268820db288a211986b26a8fda86b1e0046281b21206936bb0e61c67b5c79ef4',
    '0x956cd63ee4cdcd81fda5f0ec7c6c36dceda99e1b412f4a650a5d26055dc3c450',
  ],
  'payment-processor-v1': [
    '0x7ed668b30822ae5c7db7b4a32f84e6645250bb6db0d1fc73eeb484c5b34b1d1b',
    '0x8435e05433e0d3a3fe612b10c36f6623deec79239f76721a154687fef0ca46a1',
    '0x35cd37c73a78d0322074e1324a7d5d4cf5c7ff21f3265d03f4d085c532c6f019',
    '0xf5960c81abf2cbc811a3b86b2b2c0338bfd5c47ad8815c941f9d59665a8d458b',
    '0x4b761d38cae19a364a5d44d2c4a5cdd41113f9e4d64ae2e21b766d072705b931',
  ],
  'payment-processor-v2': PAYMENT_PROCESSOR,
  'payment-processor-v3': PAYMENT_PROCESSOR,
  'treasure-v2': [
    '0x72d3f914473a393354e6fcd9c3cb7d2eee53924b9b856f9da274e024566292a5',
    '0xf6b2b7813b1815a0e2e32964b4f22ec24862322d9c9c0e0eefac425dfc455ab1',
  ],
  tofu: ['0x5beea7b3b87c573953fec05007114d17712e5775d364acc106d8da9e74849033'],
  'pancake-v1': ['0xdaac0e40b8f01e970d08d4e8ae57ac31a5845fffde104c43f05e19bbec78491e'],
  'element-v1': [
    '0x8a0f8e04e7a35efabdc150b7d106308198a4f965a5d11badf768c5b8b273ac94',
    '0xa24193d56ccdf64ce1df60c80ca683da965a1da3363efa67c14abf62b2d7d493',
    '0x3ae452568bed7ccafe4345f10048675bae78660c7ea37eb5112b572648d4f116',
    '0x020486beb4ea38db8dc504078b03c4f758de372097584b434a8b8f53583eecac',
  ],
  'element-v2': [
    '0x9c248aa1a265aa616f707b979d57f4529bb63a4fc34dc7fc61fdddc18410f74e',
    '0xd90a5c60975c6ff8eafcf02088e7b50ae5d9e156a79206ba553df1c4fb4594c2',
    '0xfcde121a3f6a9b14a3ce266d61fc00940de86c4d8c1d733fe62d503ae5d99ff9',
    '0x105616901449a64554ca9246a5bbcaca973b40b3c0055e5070c6fa191618d9f3',
  ],
  'blur-v2': [
    '0x1d5e12b51dee5e4d34434576c3fb99714a85f57b0fd546ada4b0bddd736d12b2',
    '0x0fcf17fac114131b10f37b183c6a60f905911e52802caeeb3e6ea210398b81ab',
    '0x7dc5c0699ac8dd5250cbe368a2fc3b4a2daadb120ad07f6cccea29f83482686e',
    '0xf2f66294df6fae7ac681cbe2f6d91c6904485929679dce263e8f6539b7d5c559',
  ],
  'blur-v1': ['0x61cbb2a3dee0b6064c2e681aadd61677fb4ef319f0b547508d495626f5a62f64'],
};
const PUNK_BIDS = [
  '0x5b859394fabae0c1ba88baffe67e751ab5248d2e879028b8c8d6897b0519f56a',
  '0x6f30e1ee4d81dcc7a8a478577f65d2ed2edb120565960ac45fe7c50551c87932',
];

test('each protocol asks for the events that its contracts emit, and for no others', () => {
  const requested = Object.groupBy(marketplaces, ({ protocol }) => protocol);
  expect(Object.keys(requested).toSorted()).toEqual(Object.keys(TOPICS).toSorted());
  for (const { protocol, topics } of marketplaces)
    expect(topics.toSorted(), protocol).toEqual(TOPICS[protocol]?.toSorted());
  expect(punkBids.topics(createChainRegistry().get(1)).toSorted()).toEqual(PUNK_BIDS.toSorted());
});

const FACTS = recordedData('contract/marketplaces.json');

interface KnownMarketplace {
  readonly id: string;
  readonly addresses: Readonly<Record<string, string>>;
}

describe.skipIf(FACTS.isMissing)(FACTS.title('deployments'), () => {
  const known: readonly KnownMarketplace[] = FACTS.isMissing
    ? []
    : JSON.parse(readFileSync(FACTS.folder, 'utf8')).marketplaces;
  const deployed = known.flatMap(({ id, addresses }) =>
    Object.entries(addresses).map(([chain, address]) => ({ id, chain: Number(chain), address })),
  );

  test.each(deployed)('$id is looked for at $address of chain $chain', ({ chain, address }) => {
    const found = marketplaces.flatMap((one) => one.addresses(createChainRegistry().get(chain)));
    expect(found).toContain(address);
  });
});
