import { type Address, type Hex, type Log, parseHash } from '@chainstead/core';
import { describe, expect, test } from 'vitest';
import { exampleLog } from '../matching/testing/example-block.ts';
import { ERC20_TRANSFER, eventItem, exampleAddress } from '../matching/testing/example-stream.ts';
import { enrichedMatch } from './testing/enriched-match.ts';
import { ETHEREUM, exampleMatch, exampleToken } from './testing/example-match.ts';
import { decodeTokenEvents, type TokenNote, tokenContracts } from './webhook-contents.ts';

const [ALICE, BOB, CAROL, TOKEN, NFT] = [0xa1, 0xb0, 0xca, 0xee, 0xef].map(exampleAddress) as [
  Address,
  Address,
  Address,
  Address,
  Address,
];
const ERC20_APPROVAL = eventItem('event Approval(address indexed owner, address indexed spender, uint256 value)');
const ERC721_APPROVAL = eventItem(
  'event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId)',
);
const APPROVAL_FOR_ALL = eventItem(
  'event ApprovalForAll(address indexed account, address indexed operator, bool approved)',
);
const BATCH = eventItem(
  'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)',
);
const CONSECUTIVE = eventItem(
  'event ConsecutiveTransfer(uint256 indexed fromTokenId, uint256 toTokenId, address indexed fromAddress, address indexed toAddress)',
);

function contentsOf(
  logs: readonly Pick<Log, 'address' | 'topics' | 'data'>[],
  tokens: Readonly<Record<Address, TokenNote>> = {},
  chain = ETHEREUM,
) {
  const match = exampleMatch([{ from: CAROL, to: TOKEN, logs }]);
  const known = new Map(Object.entries(tokens) as [Address, TokenNote][]);
  return enrichedMatch(match, chain, { tokens: known }).contents;
}

describe('ERC-20', () => {
  test('transfers of contracts that only look it are none', () => {
    const log = exampleLog(TOKEN, ERC20_TRANSFER, { from: ALICE, to: BOB, value: 5n });
    const chain = { ...ETHEREUM, erc20Exclusions: [TOKEN] };
    expect(contentsOf([log], {}, chain).erc20Transfers).toEqual([]);
  });
});

describe('NFTs', () => {
  const tokens = { [NFT]: exampleToken({ standard: 'erc721' }) };

  test('transfers of contracts older than the standard, with everything in the data, are ERC-721’s', () => {
    const kitties = eventItem('event Transfer(address from, address to, uint256 tokenId)');
    const log = exampleLog(NFT, kitties, { from: ALICE, to: BOB, tokenId: 5n });
    const { nftTransfers } = contentsOf([log], tokens, { ...ETHEREUM, unindexedNfts: [NFT] });
    expect(nftTransfers).toMatchObject([
      { from: ALICE, to: BOB, tokenId: '5', amount: '1', tokenContractType: 'ERC721' },
    ]);
    expect(contentsOf([log], tokens).nftTransfers).toEqual([]);
  });

  test('a malformed batch and a consecutive mint stay raw logs', () => {
    const parties = { operator: CAROL, from: ALICE, to: BOB };
    const uneven = exampleLog(NFT, BATCH, { ...parties, ids: [7n, 8n], values: [1n] });
    const mint = { fromTokenId: 1n, toTokenId: 10_000n, fromAddress: ALICE, toAddress: BOB };
    const { logs, nftTransfers } = contentsOf([uneven, exampleLog(NFT, CONSECUTIVE, mint)], tokens);
    expect(logs).toHaveLength(2);
    expect(nftTransfers).toEqual([]);
  });

  test('events that lack the shape of their name are decoded as nothing', () => {
    const good = exampleLog(TOKEN, ERC20_APPROVAL, { owner: ALICE, spender: BOB, value: 5n });
    const all = exampleLog(NFT, APPROVAL_FOR_ALL, { account: ALICE, operator: BOB, approved: true });
    const id = exampleLog(NFT, ERC721_APPROVAL, { owner: ALICE, approved: BOB, tokenId: 5n });
    const dirty = parseHash(`0x${'1'.repeat(64)}`);
    const contents = contentsOf([
      { ...good, data: '0x' },
      { ...good, topics: good.topics.slice(0, 2) },
      { ...good, topics: good.topics.with(1, dirty) },
      { ...all, data: `${all.data}00` as Hex },
      { ...all, topics: [...all.topics, dirty] },
      { ...id, data: good.data },
    ]);
    const { erc20Approvals, nftApprovals, nftTokenApprovals } = contents;
    expect({ erc20Approvals, nftApprovals, nftTokenApprovals }).toEqual({
      erc20Approvals: [],
      nftApprovals: { ERC721: [], ERC1155: [] },
      nftTokenApprovals: [],
    });
  });
});

describe('token contracts of a match', () => {
  test('are those whose facts its body shows', () => {
    const match = exampleMatch([
      {
        from: ALICE,
        to: TOKEN,
        logs: [
          exampleLog(NFT, APPROVAL_FOR_ALL, { account: ALICE, operator: BOB, approved: true }),
          exampleLog(TOKEN, ERC20_TRANSFER, { from: ALICE, to: BOB, value: 1n }),
          exampleLog(TOKEN, ERC20_TRANSFER, { from: ALICE, to: BOB, value: 2n }),
          exampleLog(CAROL, CONSECUTIVE, { fromTokenId: 1n, toTokenId: 2n, fromAddress: ALICE, toAddress: BOB }),
        ],
      },
    ]);
    expect(tokenContracts(decodeTokenEvents(match.logs, ETHEREUM))).toEqual([NFT, TOKEN]);
  });
});
