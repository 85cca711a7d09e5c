import type { Hash } from '@chainstead/core';
import type { Evidence } from './evidence.ts';

export type Named = { readonly topic: 1 | 2 | 3 } | { readonly word: number } | 'sender';

export interface EvidenceEvent {
  readonly topic0: Hash;
  readonly topics: number;
  /** Minimum words of data: all that distinguishes events of two protocols with equal topics. */
  readonly words: number;
  readonly names: readonly Named[];
  readonly says: readonly Evidence[];
}

const topic = (index: 1 | 2 | 3): Named => ({ topic: index });
const word = (index: number): Named => ({ word: index });
const UNSTAKE = ['takeBack', 'unstake'] as const;
const ADD = ['supply', 'liquidityAdd'] as const;
const REMOVE = ['takeBack', 'liquidityRemove'] as const;

export const EVIDENCE_EVENTS: readonly EvidenceEvent[] = [
  // ERC-4626: Deposit(sender, owner, …), Withdraw(sender, receiver, owner, …).
  event('0xdcbc1c05240f31ff3ad067ef1ee35ce4997762752e3a095284754544f4c709d7', 3, 2, [topic(2)], ['supply']),
  event('0xfbde797d201c681b91056529119e0b02407c7bb96a4a2c75c01fc9667232c8db', 4, 2, [topic(3)], ['takeBack']),
  // Aave v2 Deposit, v3 Supply, Withdraw.
  event('0xde6857219544bb5b7746f48ed30be6386fefc61b2f864cacf559893bf50fd951', 4, 2, [topic(2)], ['supply']),
  event('0x2b627736bca15cd5381dcf80b0bf11fd197d01a037c52b927a881a10fb73ba61', 4, 2, [topic(2)], ['supply']),
  event('0x3115d1449a7b732c986cba18244e897a450f61e1bb8d589cd2e69e6c8924f9f7', 4, 1, [topic(2)], ['takeBack']),
  // Aave v2 and v3 Borrow: receiver in the first word, debtor in the second topic.
  event(
    '0xc6a898309e823ee50bac64e45ca8adba6690e99e7841c45d754e2a38e9019d9b',
    4,
    4,
    [topic(2), word(0)],
    ['borrow'],
  ),
  event(
    '0xb3d084820fb1a9decffb176436bd02558d15fac9b0ddfed8c465bc7359d7dce0',
    4,
    4,
    [topic(2), word(0)],
    ['borrow'],
  ),
  // Aave v2 and v3 Repay: debtor and payer.
  event(
    '0x4cdde6e09bb755c9a5589ebaec640bbfedff1362d4b255ebf8339782b9942faa',
    4,
    1,
    [topic(2), topic(3)],
    ['repay'],
  ),
  event(
    '0xa534c8dbe71f871f9f3530e97a74601fea17b426cae02e1c5aee42c96c784051',
    4,
    2,
    [topic(2), topic(3)],
    ['repay'],
  ),
  // Compound v2 Mint, Redeem, Borrow, RepayBorrow: accounts are in the data.
  event('0x4c209b5fc8ad50758f13e2e1088ba56a560dff690a1c6fef26394f4c03821c4f', 1, 3, [word(0)], ['supply']),
  event('0xe5b754fb1abb7f01b499791d0b820ae3b6af3424ac1c59768edb53f4ec31a929', 1, 3, [word(0)], ['takeBack']),
  event('0x13ed6866d4e1ee6da46f845c46d7e54120883d75c5ea9a2dacc1c4ca8984ab80', 1, 4, [word(0)], ['borrow']),
  event(
    '0x1a2a22cb034d26d1854bdc6666a5b91fe25efbbb5dcad3b0355478d6f5c362a1',
    1,
    5,
    [word(0), word(1)],
    ['repay'],
  ),
  // Compound v3 Supply.
  event('0xd1cf3d156d5f8f0d50f6c122ed609cec09d35c9b9fb3fff6ea0959134dae424e', 3, 1, [topic(2)], ['supply']),
  // Morpho Blue Supply, Withdraw, Borrow, Repay.
  event('0xedf8870433c83823eb071d3df1caa8d008f12f6440918c20d75a3602cda30fe0', 4, 2, [topic(3)], ['supply']),
  event('0xa56fc0ad5702ec05ce63666221f796fb62437c32db1aa1aa075fc6484cf58fbf', 4, 3, [topic(2)], ['takeBack']),
  event('0x570954540bed6b1304a87dfe815a5eda4a648f7097a16240dcd85c9b5fd42a43', 4, 3, [topic(2)], ['borrow']),
  event('0x52acb05cebbd3cd39715469f22afbf5a17496295ef3bc9bb5944056c63ccaa09', 4, 2, [topic(3)], ['repay']),
  // Staked, Withdrawn, RewardPaid.
  event(
    '0x9e71bc8eea02a63969f509818f2dafb9254532904319f9dbda79b67bd34a5f3d',
    2,
    1,
    [topic(1)],
    ['supply', 'stake'],
  ),
  event('0x7084f5476618d8e60b11ef0d7d3f06914655adb8793e28ff7f018d4c76d505d5', 2, 1, [topic(1)], UNSTAKE),
  event('0xe2403640ba68fed3a2f88b7557551d1993f84b99bb10ff833f0cf8db0c5e0486', 2, 1, [topic(1)], ['claim']),
  // Lido Submitted; the beacon chain's DepositEvent has no account.
  event(
    '0x96a25c8ce0baabc1fdefd93e9ed25d8e092a3332f3aa9a41722b5697231d1d1a',
    2,
    2,
    [topic(1)],
    ['supply', 'stake'],
  ),
  event(
    '0x649bbc62d0e31342afea4e5cd82d4049e7e1ee912fc0889aa790803be39038c5',
    1,
    5,
    ['sender'],
    ['supply', 'stake'],
  ),
  // Uniswap v3 positions: IncreaseLiquidity, DecreaseLiquidity, Collect.
  event('0x3067048beee31b25b2f1681f88dac838c8bba36af25bfb2b7cf7473a5847e35f', 2, 3, ['sender'], ADD),
  event('0x26f6a048ee9138f2c0ce266f322cb99228e8d619ae2bff30c67f8dcf9d2377b4', 2, 3, ['sender'], REMOVE),
  event('0x40d0efd1a53d60ecbf40971b9daf7dc90178c3aadc7aab1765632738fa8b8f01', 2, 3, ['sender'], REMOVE),
  // To another chain. OP Stack: bridges in both directions, portal, withdrawal messages.
  event('0x35d79ab81f2b2017e19afb5c5571778877782d7a8786f5907f93b0f4702f4f23', 3, 2, [topic(1)], ['bridge']),
  event('0x2849b43074093a05396b6f2a937dee8565b15a48a7b3d4bffb732a5017380af5', 3, 2, [topic(1)], ['bridge']),
  event('0x718594027abd4eaed59f95162563e0cc6d0e8d5b86b1c7be8b1b0ac3343d0396', 4, 3, [topic(3)], ['bridge']),
  event('0x7ff126db8024424bbfd9826e8ab82ff59136289ea440b04b39a0df1b03b9cabf', 4, 3, [topic(3)], ['bridge']),
  event('0x73d170910aba9e6d50b102db522b1dbcd796216f5128b445aa2135272886497e', 4, 3, [topic(3)], ['bridge']),
  event('0xb3813568d9991fc951961fcb4c784893574240a28925604d09fc577c55bb7c32', 4, 2, [topic(1)], ['bridge']),
  event('0x02a52367d10742d8032712c1bb8e0144ff1ec5ffda1ed7d70bb05a2744955054', 4, 4, [topic(2)], ['bridge']),
  // Arbitrum: gateways in both directions, withdrawal messages.
  event('0xb8910b9960c443aac3240b98585384e3a6f109fbf6969e264c3f183d69aba7e1', 4, 2, [topic(1)], ['bridge']),
  event('0x3073a74ecb728d10be779fe19a74a1428e20468f5b4d167bf9c73d9067847d73', 4, 3, [topic(1)], ['bridge']),
  event('0x3e7aafa77dbf186b7fd488006beff893744caa3c4f6f299e8a709fa2087374fc', 4, 6, [word(0)], ['bridge']),
  // Polygon's bridge: the sender of native tokens or ERC-20 tokens.
  event('0x3e799b2d61372379e767ef8f04d65089179b7a6f63f9be3065806456c7309f1b', 3, 1, [topic(1)], ['bridge']),
  event('0x9b217a401a5ddf7c4d474074aff9958a18d48690d77cc2151c4706aa7348b401', 4, 1, [topic(1)], ['bridge']),
  // Circle's DepositForBurn, LayerZero's OFTSent, Across's deposits, Hop's transfers, Celer's Send.
  event('0x2fa9ca894982930190727e75500a97d8dc500233a5065e0f3126c48fbe0343c0', 4, 5, [topic(3)], ['bridge']),
  event('0x85496b760a4b7f8d66384b9df21b381f5d1b1e79f229a47aaf4c232edc2fe59a', 3, 3, [topic(2)], ['bridge']),
  event('0xa123dc29aebf7d0c3322c8eeb5b999e859f39937950ed31056532713d0de396f', 4, 10, [topic(3)], ['bridge']),
  event('0x32ed1a409ef04c7b0227189c3a103dc5ac10e775a15b785dcc510201f7c25ad3', 4, 10, [topic(3)], ['bridge']),
  event('0x0a0607688c86ec1775abcdbab7b33a3a35a6c9cde677c9be880150c231cc6b0b', 4, 4, [topic(2)], ['bridge']),
  event('0xe35dddd4ea75d7e9b3fe93af4f4e40e778c3da4074c9d93e7c6536f1e803c1eb', 4, 6, [topic(3)], ['bridge']),
  event('0x89d8051e597ab4178a863a5190407b98abfeff406aa8db90c59af76612e58f01', 1, 8, [word(1)], ['bridge']),
];

/** Uniswap v2: Mint(sender, amount0, amount1); a transfer shows the receiver. */
export const PAIR_MINT = {
  topic0: '0x4c209b5fc8ad50758f13e2e1088ba56a560dff690a1c6fef26394f4c03821c4f' as Hash,
  topics: 2,
};
/** Uniswap v2: Burn(sender, amount0, amount1, to). */
export const PAIR_BURN = {
  topic0: '0xdccd412f0b1252819cb1fd330b93224ca42612892bb3f4f789976e6d81936496' as Hash,
  topics: 3,
};
/** Compound v3: Withdraw(src, to, amount), a loan above the burnt balance. */
export const COMET_WITHDRAW = {
  topic0: '0x9b1bfa7fa9ee420a16e124f794c35ac9f90472acc99140eb2f6447c714cad8eb' as Hash,
  topics: 3,
};
/**
 * Maker's `frob(bytes32 i, address u, address v, address w, int256 dink, int256 dart)`.
 * Anonymous log: selector, i, u, v as topics, then the calldata.
 */
export const VAULT_CHANGED = { topic0: `0x76088703${'00'.repeat(28)}` as Hash, topics: 4, words: 9 };

function event(
  topic0: string,
  topics: number,
  words: number,
  names: readonly Named[],
  says: readonly Evidence[],
) {
  return { topic0: topic0 as Hash, topics, words, names, says };
}
