import { expect, test } from 'vitest';
import type { GivenApproval } from '../../approvals/read-approvals.ts';
import type { WalletTransaction } from '../classification/classification-features.ts';
import { classify } from '../classification/decision-table.ts';
import {
  APES,
  BOB,
  CARDS,
  coin,
  DAI,
  exampleCase,
  ME,
  NOBODY,
  nft,
  ROUTER,
  token,
  USDC,
  VAULT,
} from '../testing/example-case.ts';
import { summarise } from './summarise.ts';

const names = {
  coin: { symbol: 'ETH', decimals: 18 },
  tokenOf: (address: string) =>
    address === USDC
      ? { symbol: 'USDC', decimals: 6 }
      : address === DAI
        ? { symbol: 'DAI', decimals: 18 }
        : { symbol: null, decimals: null },
  collectionOf: (address: string) => (address === APES ? 'Apes' : null),
  labelOf: (address: string) => (address === VAULT ? 'Vault 1' : null),
};
const ETHER = 10n ** 18n;
const by = { from: BOB } as const;

function approval(given: Partial<GivenApproval>): GivenApproval {
  const allowed = { kind: 'token', token: USDC, spender: ROUTER, value: 123n, isGranted: true } as const;
  return { ...allowed, expiration: null, logIndex: 1, ...given };
}

interface Example {
  readonly given: Partial<WalletTransaction>;
  readonly approvals?: readonly GivenApproval[];
}

const EXAMPLES: readonly (readonly [summary: string, example: Example])[] = [
  ['Signed a transaction', { given: {} }],
  ['Sent 1 ETH to 0x0000...0b0b', { given: { coins: [coin(ME, BOB, ETHER)] } }],
  ['Sent 1.5 ETH', { given: { coins: [coin(ME, BOB, ETHER), coin(ME, ROUTER, ETHER / 2n, true)] } }],
  ['Sent 0.000000000000000001 ETH to Vault 1', { given: { coins: [coin(ME, VAULT, 1n)] } }],
  ['Received 1 ETH from 0x0000...0b0b', { given: { ...by, coins: [coin(BOB, ME, ETHER)] } }],
  [
    'Received 1 ETH from 0x0000...11ce',
    { given: { to: ME, coins: [{ ...coin(ME, ME, ETHER), isMinted: true }] } },
  ],
  ['Sent 5 USDC to 0x0000...0b0b', { given: { tokens: [token(USDC, ME, BOB, 5_000_000n)] } }],
  [
    'Sent 10 USDC',
    { given: { tokens: [token(USDC, ME, BOB, 5_000_000n), token(USDC, ME, ROUTER, 5_000_000n)] } },
  ],
  ['Sent 2 ERC20 tokens', { given: { tokens: [token(USDC, ME, BOB), token(DAI, ME, BOB)] } }],
  [
    'Sent 5 USDC and 1 ETH',
    { given: { tokens: [token(USDC, ME, ROUTER, 5_000_000n)], coins: [coin(ME, ROUTER, ETHER)] } },
  ],
  [
    'Sent 2 ERC20 tokens and 1 ETH',
    { given: { tokens: [token(USDC, ME, BOB), token(DAI, ME, BOB)], coins: [coin(ME, BOB, ETHER)] } },
  ],
  ['Sent 0 USDC to 0x0000...0b0b', { given: { tokens: [token(USDC, ME, BOB, 0n)] } }],
  ['Received 5 USDC from Vault 1', { given: { ...by, tokens: [token(USDC, VAULT, ME, 5_000_000n)] } }],
  ['Received 0x0000...a4d5 from 0x0000...0b0b', { given: { ...by, tokens: [token(CARDS, BOB, ME)] } }],
  ['Sent 1 NFT to 0x0000...0b0b', { given: { nfts: [nft(APES, ME, BOB)] } }],
  ['Received 2 NFTs from 0x0000...0b0b', { given: { ...by, nfts: [nft(APES, BOB, ME), nft(CARDS, BOB, ME)] } }],
  [
    'Swapped 10 USDC for 20 DAI and 1 ETH',
    {
      given: {
        tokens: [token(USDC, ME, ROUTER, 10_000_000n), token(DAI, ROUTER, ME, 20n * ETHER)],
        coins: [coin(ROUTER, ME, ETHER, true)],
      },
    },
  ],
  ['Swapped 1 NFT for 1 NFT', { given: { nfts: [nft(APES, ME, BOB), nft(CARDS, BOB, ME)] } }],
  [
    'Swapped 1 USDC',
    { given: { tokens: [token(USDC, ME, ROUTER, 1_000_000n)], evidence: new Set(['calledUnwrapped']) } },
  ],
  ['Purchased 1 NFT', { given: { coins: [coin(ME, ROUTER)], nfts: [nft(APES, BOB, ME)] } }],
  ['Sold 2 NFTs', { given: { tokens: [token(DAI, BOB, ME)], nfts: [nft(APES, ME, BOB), nft(APES, ME, BOB)] } }],
  ['Minted 1 NFT', { given: { nfts: [nft(APES, NOBODY, ME)] } }],
  ['Burned 1 NFT', { given: { nfts: [nft(APES, ME, NOBODY)] } }],
  ['Burned 5 USDC', { given: { tokens: [token(USDC, ME, NOBODY, 5_000_000n)] } }],
  ['Received 1 NFT airdrop', { given: { ...by, nfts: [nft(APES, NOBODY, ME)] } }],
  [
    'Received 5 USDC airdrop',
    { given: { ...by, method: 'airdrop', tokens: [token(USDC, BOB, ME, 5_000_000n)] } },
  ],
  ['Deposited 1 ETH', { given: { coins: [coin(ME, DAI, ETHER)], evidence: new Set(['wrap']) } }],
  [
    'Deposited 5 USDC to Vault 1',
    { given: { tokens: [token(USDC, ME, VAULT, 5_000_000n)], evidence: new Set(['supply']) } },
  ],
  [
    'Withdrew 5 USDC from Vault 1',
    { given: { tokens: [token(USDC, VAULT, ME, 5_000_000n)], evidence: new Set(['takeBack']) } },
  ],
  ['Withdrew ETH', { given: { evidence: new Set(['unwrap']) } }],
  [
    'Purchased NFTs',
    { given: { trades: [{ role: 'buyer', isOffer: false }], coins: [coin(ME, ROUTER, ETHER)] } },
  ],
  ['Sold NFTs', { given: { ...by, trades: [{ role: 'seller', isOffer: false }] } }],
  ['Borrowed 100 DAI', { given: { tokens: [token(DAI, BOB, ME, 100n * ETHER)], evidence: new Set(['borrow']) } }],
  ['Approved 0.000123 USDC', { given: {}, approvals: [approval({})] }],
  ['Approved unlimited USDC', { given: {}, approvals: [approval({ value: 2n ** 256n - 1n })] }],
  ['Approved unlimited USDC', { given: {}, approvals: [approval({ value: 2n ** 96n - 1n })] }],
  ['Approved all Apes', { given: {}, approvals: [approval({ kind: 'all', token: APES, value: null })] }],
  ['Approved 2 tokens', { given: {}, approvals: [approval({}), approval({ token: DAI })] }],
  ['Revoked USDC', { given: {}, approvals: [approval({ value: 0n, isGranted: false })] }],
  [
    'Revoked all Apes',
    { given: {}, approvals: [approval({ kind: 'all', token: APES, value: null, isGranted: false })] },
  ],
];

for (const [summary, { given, approvals = [] }] of EXAMPLES)
  test(`${summary} (${Object.keys(given).join(', ')})`, () => {
    const transaction = exampleCase({ ...given, approvals });
    expect(summarise(transaction, classify(transaction).category, approvals, names)).toBe(summary);
  });
