import { describe, expect, test } from 'vitest';
import {
  APES,
  BOB,
  CARDS,
  coin,
  DAI,
  DEAD,
  exampleCase,
  ME,
  NOBODY,
  nft,
  ROUTER,
  token,
  USDC,
  VAULT,
} from '../testing/example-case.ts';
import type { Category, CategoryDetail, WalletTransaction } from './classification-features.ts';
import { classify, DECISION_TABLE } from './decision-table.ts';

type Given = Partial<WalletTransaction>;
type Row = readonly [row: number, what: string, given: Given, category: Category, detail?: CategoryDetail | null];

const byOthers = { from: BOB } as const;
const says = (
  ...evidence: WalletTransaction['evidence'] extends ReadonlySet<infer One> ? One[] : never
): Given => ({
  evidence: new Set(evidence),
});
const bought = { role: 'buyer', isOffer: false } as const;
const sold = { role: 'seller', isOffer: false } as const;

/** For each row, cases that match it, and cases that narrowly miss it and match another row. */
const CASES: readonly Row[] = [
  [1, 'a failed call that carried coins', { status: 0, coins: [coin(ME, BOB)] }, 'contract interaction'],
  [1, 'a failed trade', { status: 0, trades: [bought], nfts: [nft(APES, BOB, ME)] }, 'contract interaction'],
  [26, 'not: a status that nobody knows', { status: null, coins: [coin(ME, BOB)] }, 'send'],

  [
    2,
    'bought on a market',
    { trades: [bought], coins: [coin(ME, ROUTER)], nfts: [nft(APES, BOB, ME)] },
    'nft purchase',
  ],
  [
    2,
    'sold on a market, paid without a trace',
    { ...byOthers, trades: [sold], nfts: [nft(APES, ME, BOB)] },
    'nft sale',
  ],
  [2, 'both at once', { trades: [sold, bought] }, 'nft purchase'],
  [2, 'an offer accepted', { trades: [{ role: 'seller', isOffer: true }] }, 'nft sale', 'nft offer'],
  [7, 'not: bought without a market', { coins: [coin(ME, ROUTER)], nfts: [nft(APES, BOB, ME)] }, 'nft purchase'],

  [3, 'an NFT to zero', { nfts: [nft(APES, ME, NOBODY)] }, 'burn'],
  [
    3,
    'NFTs to the dead, for money',
    { nfts: [nft(APES, ME, DEAD), nft(APES, ME, NOBODY)], coins: [coin(ROUTER, ME)] },
    'burn',
  ],
  [
    3,
    'a position closed',
    { nfts: [nft(APES, ME, NOBODY)], ...says('liquidityRemove', 'takeBack') },
    'burn',
    'liquidity remove',
  ],
  [11, 'not: one of two goes to somebody', { nfts: [nft(APES, ME, NOBODY), nft(APES, ME, BOB)] }, 'nft send'],

  [4, 'minted for free by oneself', { nfts: [nft(APES, NOBODY, ME)] }, 'mint'],
  [
    4,
    'minted by a relayer for tokens',
    { ...byOthers, nfts: [nft(APES, NOBODY, ME)], tokens: [token(USDC, ME, ROUTER)] },
    'mint',
  ],
  [4, 'minted for another that is burnt', { nfts: [nft(APES, ME, NOBODY), nft(CARDS, NOBODY, ME)] }, 'mint'],
  [
    4,
    'a position opened',
    { nfts: [nft(APES, NOBODY, ME)], ...says('liquidityAdd', 'supply') },
    'mint',
    'liquidity add',
  ],
  [11, 'not: from the dead', { nfts: [nft(APES, DEAD, ME)] }, 'nft receive'],

  [5, 'minted by others', { ...byOthers, nfts: [nft(APES, NOBODY, ME)] }, 'airdrop'],
  [
    5,
    'several, with coins',
    { ...byOthers, nfts: [nft(APES, NOBODY, ME), nft(CARDS, NOBODY, ME)], coins: [coin(BOB, ME)] },
    'airdrop',
  ],
  [11, 'not: given by others', { ...byOthers, nfts: [nft(APES, BOB, ME)] }, 'nft receive'],

  [6, 'an ape for a card', { nfts: [nft(APES, ME, BOB), nft(CARDS, BOB, ME)] }, 'token swap'],
  [
    6,
    'an ape and coins for a card',
    { nfts: [nft(APES, ME, BOB), nft(CARDS, BOB, ME)], coins: [coin(ME, BOB)] },
    'token swap',
  ],

  [7, 'an ape for tokens', { nfts: [nft(APES, BOB, ME)], tokens: [token(USDC, ME, BOB)] }, 'nft purchase'],
  [
    7,
    'an ape for coins, by a bid',
    { ...byOthers, nfts: [nft(APES, BOB, ME)], tokens: [token(DAI, ME, BOB)] },
    'nft purchase',
  ],
  [
    11,
    'not: the tokens came back',
    { nfts: [nft(APES, BOB, ME)], tokens: [token(USDC, ME, BOB), token(USDC, BOB, ME)] },
    'nft receive',
  ],

  [8, 'coins for an ape', { nfts: [nft(APES, ME, BOB)], coins: [coin(ROUTER, ME, 9n, true)] }, 'nft sale'],
  [
    8,
    'tokens for apes',
    { nfts: [nft(APES, ME, BOB), nft(APES, ME, BOB)], tokens: [token(DAI, BOB, ME)] },
    'nft sale',
  ],
  [11, 'not: an ape with coins', { nfts: [nft(APES, ME, BOB)], coins: [coin(ME, BOB)] }, 'nft send'],

  [9, 'handed out by an operator', { ...byOthers, nfts: [nft(CARDS, VAULT, ME, BOB)] }, 'airdrop'],
  [
    9,
    'by a method that hands out',
    { ...byOthers, nfts: [nft(APES, BOB, ME)], method: 'batchTransferFrom' },
    'airdrop',
  ],
  [11, 'not: the operator is who gives', { ...byOthers, nfts: [nft(CARDS, BOB, ME, BOB)] }, 'nft receive'],
  [
    11,
    'not: asked for by the wallet',
    { nfts: [nft(CARDS, VAULT, ME, BOB)], method: 'batchTransferFrom' },
    'nft receive',
  ],

  [10, 'staked where it was called', { to: VAULT, method: 'stake', nfts: [nft(APES, ME, VAULT)] }, 'deposit'],
  [10, 'taken back', { to: VAULT, method: 'withdrawMany', nfts: [nft(APES, VAULT, ME)] }, 'withdraw'],
  [
    10,
    'an event says it',
    { to: VAULT, nfts: [nft(APES, ME, VAULT)], ...says('supply', 'stake') },
    'deposit',
    'stake',
  ],
  [
    10,
    'an event says it of taking back',
    { to: VAULT, nfts: [nft(APES, VAULT, ME)], ...says('takeBack', 'unstake') },
    'withdraw',
    'unstake',
  ],
  [11, 'not: into another than was called', { method: 'stake', nfts: [nft(APES, ME, VAULT)] }, 'nft send'],
  [
    11,
    'not: a method of the other direction',
    { to: VAULT, method: 'exit', nfts: [nft(APES, ME, VAULT)] },
    'nft send',
  ],

  [11, 'given to somebody', { to: APES, method: 'safeTransferFrom', nfts: [nft(APES, ME, BOB)] }, 'nft send'],
  [11, 'got from somebody', { ...byOthers, to: APES, nfts: [nft(APES, BOB, ME)] }, 'nft receive'],

  [12, 'borrowed', { tokens: [token(DAI, VAULT, ME)], ...says('borrow') }, 'borrow'],
  [
    12,
    'borrowed, with debt tokens',
    { tokens: [token(USDC, NOBODY, ME), token(DAI, VAULT, ME)], ...says('borrow') },
    'borrow',
  ],
  [
    12,
    'borrowed for what was supplied at once',
    { tokens: [token(DAI, VAULT, ME), token(USDC, ME, VAULT)], ...says('borrow', 'supply') },
    'borrow',
  ],
  [23, 'not: borrowed for somebody else', { tokens: [token(USDC, ME, VAULT)], ...says('borrow') }, 'token send'],

  [13, 'paid back in tokens', { tokens: [token(DAI, ME, VAULT)], ...says('repay') }, 'token send', 'repay'],
  [
    13,
    'paid back, debt tokens burnt',
    { tokens: [token(USDC, ME, NOBODY), token(DAI, ME, VAULT)], ...says('repay') },
    'token send',
    'repay',
  ],
  [
    13,
    'paid back in coins',
    { coins: [coin(ME, VAULT)], tokens: [token(USDC, ME, NOBODY)], ...says('repay') },
    'send',
    'repay',
  ],
  [
    20,
    'not: something came for it',
    { tokens: [token(DAI, ME, VAULT), token(USDC, VAULT, ME)], ...says('repay') },
    'token swap',
  ],

  [14, 'wrapped', { coins: [coin(ME, DAI)], ...says('wrap') }, 'deposit', 'wrap'],
  [
    14,
    'wrapped by a relayer',
    { ...byOthers, coins: [coin(ME, DAI, 1n, true)], ...says('wrap') },
    'deposit',
    'wrap',
  ],
  [
    20,
    'not: with tokens for it',
    { coins: [coin(ME, DAI)], tokens: [token(USDC, VAULT, ME)], ...says('wrap') },
    'token swap',
  ],

  [
    15,
    'unwrapped, with traces',
    { coins: [coin(DAI, ME, 1n, true)], isTraced: true, ...says('unwrap') },
    'withdraw',
    'unwrap',
  ],
  [15, 'unwrapped, without', { ...says('unwrap') }, 'withdraw', 'unwrap'],
  [31, 'not: traces say that nothing came', { isTraced: true, ...says('unwrap') }, 'contract interaction'],
  [25, 'not: tokens came too', { tokens: [token(USDC, VAULT, ME)], ...says('unwrap') }, 'token receive'],

  [16, 'supplied', { tokens: [token(DAI, ME, VAULT)], ...says('supply') }, 'deposit'],
  [
    16,
    'supplied for shares',
    { tokens: [token(DAI, ME, VAULT), token(VAULT, NOBODY, ME)], ...says('supply') },
    'deposit',
  ],
  [16, 'coins staked', { coins: [coin(ME, VAULT)], ...says('supply', 'stake') }, 'deposit', 'stake'],
  [
    16,
    'liquidity',
    { tokens: [token(DAI, ME, VAULT), token(USDC, ME, VAULT)], ...says('supply', 'liquidityAdd') },
    'deposit',
    'liquidity add',
  ],
  [
    25,
    'not: by others in its name',
    { ...byOthers, tokens: [token(VAULT, NOBODY, ME)], ...says('supply') },
    'token receive',
  ],

  [17, 'taken back', { tokens: [token(DAI, VAULT, ME)], ...says('takeBack') }, 'withdraw'],
  [
    17,
    'taken back for shares',
    { tokens: [token(VAULT, ME, NOBODY), token(DAI, VAULT, ME)], ...says('takeBack') },
    'withdraw',
  ],
  [
    17,
    'unstaked',
    { tokens: [token(DAI, VAULT, ME)], ...says('takeBack', 'unstake', 'claim') },
    'withdraw',
    'unstake',
  ],
  [22, 'not: it went to somebody else', { tokens: [token(VAULT, ME, NOBODY)], ...says('takeBack') }, 'burn'],

  [
    18,
    'coins for shares',
    { to: VAULT, coins: [coin(ME, VAULT)], tokens: [token(VAULT, NOBODY, ME)] },
    'deposit',
    'share',
  ],
  [18, 'tokens for shares', { tokens: [token(DAI, ME, VAULT), token(VAULT, NOBODY, ME)] }, 'deposit', 'share'],
  [
    18,
    'through a router',
    { tokens: [token(DAI, ME, ROUTER), token(VAULT, NOBODY, ME)], ...says('shareMinted') },
    'deposit',
    'share',
  ],
  [
    20,
    'not: somebody else took it',
    { tokens: [token(DAI, ME, ROUTER), token(VAULT, NOBODY, ME)] },
    'token swap',
  ],
  [
    20,
    'not: the shares were there before',
    { tokens: [token(DAI, ME, VAULT), token(VAULT, VAULT, ME)] },
    'token swap',
  ],
  [
    20,
    'not: two assets for it',
    { coins: [coin(ME, VAULT)], tokens: [token(DAI, ME, VAULT), token(VAULT, NOBODY, ME)] },
    'token swap',
  ],

  [19, 'shares for tokens', { tokens: [token(VAULT, ME, NOBODY), token(DAI, VAULT, ME)] }, 'withdraw', 'share'],
  [
    19,
    'shares for coins',
    { tokens: [token(VAULT, ME, NOBODY)], coins: [coin(VAULT, ME, 3n, true)], isTraced: true },
    'withdraw',
    'share',
  ],
  [20, 'not: others gave the tokens', { tokens: [token(VAULT, ME, NOBODY), token(DAI, BOB, ME)] }, 'token swap'],
  [
    20,
    'not: the shares were not burnt',
    { tokens: [token(VAULT, ME, VAULT), token(DAI, VAULT, ME)] },
    'token swap',
  ],

  [20, 'tokens for tokens', { tokens: [token(USDC, ME, ROUTER), token(DAI, ROUTER, ME)] }, 'token swap'],
  [20, 'coins for tokens', { coins: [coin(ME, ROUTER)], tokens: [token(DAI, VAULT, ME)] }, 'token swap'],
  [
    20,
    'an order that others filled',
    { ...byOthers, tokens: [token(USDC, ME, BOB), token(DAI, BOB, ME)] },
    'token swap',
  ],
  [
    23,
    'not: the same token, less of it',
    { tokens: [token(USDC, ME, ROUTER, 9n), token(USDC, ROUTER, ME, 4n)] },
    'token send',
  ],
  [
    25,
    'not: the same token, more of it',
    { tokens: [token(USDC, ME, ROUTER, 4n), token(USDC, ROUTER, ME, 9n)] },
    'token receive',
  ],

  [21, 'the router unwrapped', { tokens: [token(USDC, ME, VAULT)], ...says('calledUnwrapped') }, 'token swap'],
  [21, 'and burnt', { tokens: [token(USDC, ME, NOBODY)], ...says('calledUnwrapped') }, 'token swap'],
  [
    23,
    'not: traces show that nothing came',
    { tokens: [token(USDC, ME, VAULT)], isTraced: true, ...says('calledUnwrapped') },
    'token send',
  ],
  [26, 'not: coins were paid', { coins: [coin(ME, VAULT)], ...says('calledUnwrapped') }, 'send'],

  [22, 'tokens burnt', { tokens: [token(USDC, ME, NOBODY)] }, 'burn'],
  [22, 'tokens to the dead', { tokens: [token(USDC, ME, DEAD), token(DAI, ME, NOBODY)] }, 'burn'],
  [23, 'not: a part to somebody', { tokens: [token(USDC, ME, DEAD), token(USDC, ME, BOB)] }, 'token send'],

  [23, 'tokens to somebody', { to: USDC, method: 'transfer', tokens: [token(USDC, ME, BOB)] }, 'token send'],
  [
    23,
    'tokens to another chain',
    { tokens: [token(USDC, ME, ROUTER)], ...says('bridge') },
    'token send',
    'bridge',
  ],
  [
    22,
    'tokens burnt to be made on another chain',
    { tokens: [token(USDC, ME, NOBODY)], ...says('bridge') },
    'burn',
    'bridge',
  ],
  [25, 'not: from another chain', { tokens: [token(USDC, ROUTER, ME)], ...says('bridge') }, 'token receive'],
  [23, 'tokens with coins', { coins: [coin(ME, ROUTER)], tokens: [token(USDC, ME, ROUTER)] }, 'token send'],
  [23, 'tokens that others took by an allowance', { ...byOthers, tokens: [token(USDC, ME, BOB)] }, 'token send'],
  [23, 'lent for a moment', { tokens: [token(USDC, ME, ROUTER), token(USDC, ROUTER, ME)] }, 'token send'],
  [
    25,
    'not: lent for a moment, and something came',
    { tokens: [token(USDC, ME, ROUTER), token(USDC, ROUTER, ME), token(DAI, ROUTER, ME)] },
    'token receive',
  ],

  [
    24,
    'a method that hands out',
    { ...byOthers, method: 'disperseToken', tokens: [token(USDC, BOB, ME)] },
    'airdrop',
  ],
  [
    24,
    'a selector that hands out',
    { ...byOthers, selector: '0x67243482', tokens: [token(USDC, BOB, ME)] },
    'airdrop',
  ],
  [
    24,
    'the same to ten',
    {
      ...byOthers,
      tokens: [token(USDC, BOB, ME)],
      ...says('handedOut', 'handedOutEqually'),
      listed: new Set([USDC]),
    },
    'airdrop',
  ],
  [
    24,
    'different amounts of an unlisted token',
    { ...byOthers, tokens: [token(USDC, BOB, ME)], ...says('handedOut') },
    'airdrop',
  ],
  [
    25,
    'not: an exchange’s payouts of a listed token',
    {
      ...byOthers,
      tokens: [token(USDC, BOB, ME)],
      ...says('handedOut'),
      listed: new Set([USDC]),
    },
    'token receive',
  ],
  [
    25,
    'not: the wallet sent it',
    { method: 'disperseToken', tokens: [token(USDC, BOB, ME)], ...says('handedOut') },
    'token receive',
  ],

  [25, 'tokens from somebody', { ...byOthers, to: USDC, tokens: [token(USDC, BOB, ME)] }, 'token receive'],
  [25, 'a reward', { tokens: [token(USDC, VAULT, ME)], ...says('claim') }, 'token receive', 'claim'],
  [
    25,
    'tokens and coins',
    { tokens: [token(USDC, VAULT, ME)], coins: [coin(VAULT, ME, 2n, true)] },
    'token receive',
  ],

  [26, 'coins to somebody', { to: BOB, coins: [coin(ME, BOB)] }, 'send'],
  [26, 'coins to another chain', { coins: [coin(ME, ROUTER)], ...says('bridge') }, 'send', 'bridge'],
  [
    20,
    'not: swapped before they go',
    { coins: [coin(ME, ROUTER)], tokens: [token(DAI, VAULT, ME)], ...says('bridge') },
    'token swap',
  ],
  [26, 'coins to a contract', { method: 'deposit', coins: [coin(ME, ROUTER)] }, 'send'],
  [
    26,
    'coins of which some came back',
    { coins: [coin(ME, ROUTER, 9n), coin(ROUTER, ME, 4n, true)], isTraced: true },
    'send',
  ],
  [
    27,
    'not: more came back',
    { coins: [coin(ME, ROUTER, 4n), coin(ROUTER, ME, 9n, true)], isTraced: true },
    'receive',
  ],

  [27, 'coins from somebody', { ...byOthers, to: ME, coins: [coin(BOB, ME)] }, 'receive'],
  [
    27,
    'a deposit to oneself from the chain below',
    { to: ME, coins: [{ ...coin(ME, ME), isMinted: true }] },
    'receive',
  ],
  [27, 'coins from a call inside', { coins: [coin(VAULT, ME, 1n, true)] }, 'receive'],

  [28, 'an allowance', { to: USDC, approvals: [{ isGranted: true }] }, 'approve'],
  [28, 'one given, one taken back', { approvals: [{ isGranted: false }, { isGranted: true }] }, 'approve'],
  [
    28,
    'by a signature that others sent',
    { ...byOthers, method: 'permit', approvals: [{ isGranted: true }] },
    'approve',
    'permit',
  ],
  [
    28,
    'by a contract that others told to',
    { ...byOthers, to: ME, approvals: [{ isGranted: true }] },
    'approve',
    null,
  ],
  [
    20,
    'not: a swap with an allowance',
    { tokens: [token(USDC, ME, ROUTER), token(DAI, ROUTER, ME)], approvals: [{ isGranted: true }] },
    'token swap',
  ],

  [29, 'taken back', { to: USDC, approvals: [{ isGranted: false }] }, 'revoke'],
  [29, 'all taken back', { approvals: [{ isGranted: false }, { isGranted: false }] }, 'revoke'],
  [
    29,
    'taken back beside a transfer of nothing',
    { approvals: [{ isGranted: false }], tokens: [token(USDC, ME, BOB, 0n)] },
    'revoke',
  ],

  [30, 'nothing sent', { tokens: [token(USDC, ME, BOB, 0n)] }, 'token send'],
  [30, 'poison', { ...byOthers, tokens: [token(USDC, ME, BOB, 0n)] }, 'token send', 'poisoning'],
  [30, 'nothing received', { ...byOthers, tokens: [token(USDC, BOB, ME, 0n)] }, 'token receive', 'poisoning'],
  [30, 'tokens to oneself', { tokens: [token(USDC, ME, ME)] }, 'token send'],
  [30, 'an ape to oneself', { nfts: [nft(APES, ME, ME)] }, 'nft send'],
  [30, 'coins to oneself', { to: ME, coins: [coin(ME, ME)] }, 'send'],
  [
    30,
    'an ape to oneself before nothing',
    { nfts: [nft(APES, ME, ME)], tokens: [token(USDC, BOB, ME, 0n)] },
    'nft send',
  ],
  [
    26,
    'not: coins to somebody beside it',
    { coins: [coin(ME, BOB)], tokens: [token(USDC, BOB, ME, 0n)] },
    'send',
  ],

  [31, 'a call', { method: 'claim' }, 'contract interaction'],
  [31, 'a contract made', { to: null }, 'contract interaction', 'contract creation'],
  [
    31,
    'an approval of one NFT, which is none of approvals',
    { to: APES, method: 'approve' },
    'contract interaction',
  ],
  [
    31,
    'a supply that moved nothing',
    { ...says('supply', 'takeBack', 'borrow', 'repay', 'wrap', 'claim') },
    'contract interaction',
  ],
];

describe('the decision table', () => {
  for (const [row, what, given, category, detail = null] of CASES)
    test(`row ${row}: ${what}`, () => {
      const isInferred = row === 21;
      expect(classify(exampleCase(given))).toEqual({ row, category, detail, isInferred });
    });

  test('is tried on both sides of each of its rows', () => {
    expect(DECISION_TABLE).toHaveLength(31);
    for (const [index, { name }] of DECISION_TABLE.entries())
      expect(CASES.filter(([row]) => row === index + 1).length, name).toBeGreaterThanOrEqual(2);
    expect(CASES.filter(([, what]) => what.startsWith('not: ')).length).toBeGreaterThanOrEqual(31);
  });
});
