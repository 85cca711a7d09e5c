import { type Address, type Hex, type Log, parseHash } from '@chainstead/core';
import { describe, expect, test } from 'vitest';
import { exampleHash, exampleLog } from '../matching/testing/example-block.ts';
import { ERC20_TRANSFER, ERC721_TRANSFER, eventItem, exampleAddress } from '../matching/testing/example-stream.ts';
import { enrichedMatch } from './testing/enriched-match.ts';
import { ETHEREUM, exampleMatch, exampleToken } from './testing/example-match.ts';
import { decodeTokenEvents } from './token-events.ts';
import type { TokenNote } from './token-note.ts';
import { tokenContracts } from './webhook-contents.ts';

const [ALICE, BOB, CAROL, TOKEN, NFT] = [0xa1, 0xb0, 0xca, 0xee, 0xef].map(exampleAddress) as [
  Address,
  Address,
  Address,
  Address,
  Address,
];
const MAX = 2n ** 256n - 1n;
const ERC20_APPROVAL = eventItem('event Approval(address indexed owner, address indexed spender, uint256 value)');
const ERC721_APPROVAL = eventItem(
  'event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId)',
);
const APPROVAL_FOR_ALL = eventItem(
  'event ApprovalForAll(address indexed account, address indexed operator, bool approved)',
);
const SINGLE = eventItem(
  'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
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

const place = { transactionHash: exampleHash(0), logIndex: '0' };

describe('logs', () => {
  test('show four topics, null where there are fewer', () => {
    const log = exampleLog(TOKEN, ERC20_TRANSFER, { from: ALICE, to: BOB, value: 255n });
    expect(contentsOf([log, { ...log, topics: [] }]).logs).toEqual([
      {
        ...place,
        address: TOKEN,
        data: `0x${'ff'.padStart(64, '0')}`,
        topic0: log.topics[0],
        topic1: `0x${ALICE.slice(2).padStart(64, '0')}`,
        topic2: `0x${BOB.slice(2).padStart(64, '0')}`,
        topic3: null,
        triggered_by: [TOKEN, ALICE, BOB, `0x${'ff'.padStart(40, '0')}`],
      },
      expect.objectContaining({ logIndex: '1', topic0: null, topic1: null, topic2: null, topic3: null }),
    ]);
  });
});

describe('ERC-20', () => {
  test('transfers show token metadata and the exact amount', () => {
    const log = exampleLog(TOKEN, ERC20_TRANSFER, { from: ALICE, to: BOB, value: MAX });
    const { erc20Transfers, nftTransfers } = contentsOf([log], { [TOKEN]: exampleToken() });
    expect(erc20Transfers).toEqual([
      {
        ...place,
        contract: TOKEN,
        from: ALICE,
        to: BOB,
        value: MAX.toString(),
        tokenName: 'USD Coin',
        tokenSymbol: 'USDC',
        tokenDecimals: '6',
        valueWithDecimals: '115792089237316195423570985008687907853269984665640564039457584007913129.639935',
        logo: 'https://logos.example/usdc.png',
        thumbnail: null,
        possibleSpam: false,
        verifiedCollection: true,
        triggered_by: expect.arrayContaining([TOKEN, ALICE, BOB]),
      },
    ]);
    expect(nftTransfers).toEqual([]);
  });

  test('of an unknown token have empty facts and no amount with decimals', () => {
    const log = exampleLog(TOKEN, ERC20_APPROVAL, { owner: ALICE, spender: BOB, value: 5n });
    const { erc20Approvals } = contentsOf([log]);
    expect(erc20Approvals).toEqual([
      {
        ...place,
        contract: TOKEN,
        owner: ALICE,
        spender: BOB,
        value: '5',
        tokenName: '',
        tokenSymbol: '',
        tokenDecimals: '',
        logo: null,
        thumbnail: null,
        possibleSpam: false,
        verifiedCollection: false,
        triggered_by: expect.arrayContaining([TOKEN]),
      },
    ]);
  });

  test.each([
    [0, '5'],
    [1, '0.5'],
    [77, `0.${'0'.repeat(76)}5`],
  ])('with %i decimals 5 is %s', (decimals, expected) => {
    const log = exampleLog(TOKEN, ERC20_TRANSFER, { from: ALICE, to: BOB, value: 5n });
    const { erc20Transfers } = contentsOf([log], { [TOKEN]: exampleToken({ decimals }) });
    expect(erc20Transfers[0]?.valueWithDecimals).toBe(expected);
  });

  test('transfers of contracts that only look it are none', () => {
    const log = exampleLog(TOKEN, ERC20_TRANSFER, { from: ALICE, to: BOB, value: 5n });
    const chain = { ...ETHEREUM, erc20Exclusions: [TOKEN] };
    expect(contentsOf([log], {}, chain).erc20Transfers).toEqual([]);
  });
});

describe('NFTs', () => {
  const facts = { tokenName: 'Apes', tokenSymbol: 'APE' };
  const tokens = { [NFT]: exampleToken({ name: 'Apes', symbol: 'APE', possibleSpam: true, standard: 'erc721' }) };
  const apes = { ...facts, contract: NFT, possibleSpam: true };
  const caused = { triggered_by: expect.arrayContaining([NFT, ALICE, BOB]) };

  test('ERC-721 transfers are told from ERC-20 by their four topics', () => {
    const log = exampleLog(NFT, ERC721_TRANSFER, { from: ALICE, to: BOB, tokenId: MAX });
    const { nftTransfers, erc20Transfers } = contentsOf([log], tokens);
    const moved = { operator: null, from: ALICE, to: BOB, tokenId: MAX.toString(), amount: '1' };
    expect(nftTransfers).toEqual([{ ...place, ...apes, ...moved, tokenContractType: 'ERC721', ...caused }]);
    expect(erc20Transfers).toEqual([]);
  });

  test('a TransferBatch gives one element for each id, with the same log index', () => {
    const parties = { operator: CAROL, from: ALICE, to: BOB };
    const logs = [
      exampleLog(NFT, SINGLE, { ...parties, id: 9n, value: 3n }),
      exampleLog(NFT, BATCH, { ...parties, ids: [7n, 8n, 7n], values: [1n, 0n, MAX] }),
    ];
    const { nftTransfers } = contentsOf(logs, tokens);
    expect(nftTransfers.map(({ logIndex, tokenId, amount }) => [logIndex, tokenId, amount])).toEqual([
      ['0', '9', '3'],
      ['1', '7', '1'],
      ['1', '8', '0'],
      ['1', '7', MAX.toString()],
    ]);
    expect(nftTransfers[0]).toEqual({
      ...place,
      ...apes,
      ...parties,
      tokenId: '9',
      amount: '3',
      tokenContractType: 'ERC1155',
      ...caused,
    });
  });

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

  test('approvals of a token are in both lists', () => {
    const log = exampleLog(NFT, ERC721_APPROVAL, { owner: ALICE, approved: BOB, tokenId: 5n });
    const { nftTokenApprovals, nftApprovals, erc20Approvals } = contentsOf([log], tokens);
    const type = { tokenContractType: 'ERC721' };
    expect(nftTokenApprovals).toEqual([
      { ...place, ...apes, account: ALICE, operator: BOB, approvedAll: false, tokenId: '5', ...type },
    ]);
    expect(nftApprovals).toEqual({
      ERC721: [{ ...place, ...facts, contract: NFT, owner: ALICE, approved: BOB, tokenId: '5', ...type }],
      ERC1155: [],
    });
    expect(erc20Approvals).toEqual([]);
  });

  test.each([
    ['erc721', 'ERC721', true],
    ['erc1155', 'ERC1155', false],
    [null, 'ERC1155', true],
  ] as const)(
    'approvals for all of a contract that is %s have the type %s',
    (standard, tokenContractType, approved) => {
      const log = exampleLog(NFT, APPROVAL_FOR_ALL, { account: ALICE, operator: BOB, approved });
      const { nftTokenApprovals, nftApprovals } = contentsOf([log], {
        [NFT]: { ...tokens[NFT], standard } as TokenNote,
      });
      const parties = { account: ALICE, operator: BOB, tokenContractType };
      expect(nftTokenApprovals).toEqual([{ ...place, ...apes, ...parties, approvedAll: approved, tokenId: null }]);
      expect(nftApprovals.ERC721).toEqual([]);
      expect(nftApprovals.ERC1155).toEqual([{ ...place, ...facts, contract: NFT, ...parties, approved }]);
    },
  );

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
