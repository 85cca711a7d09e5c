import { encodeAbiParameters, encodeEventTopics, parseAbiItem } from 'viem';
import { describe, expect, test } from 'vitest';
import { decodeApproval } from './erc20-transfer.ts';
import { ALICE, BOB, erc20Log, UINT256_MAX } from './testing/example-logs.ts';

const ERC20 = parseAbiItem('event Approval(address indexed owner, address indexed spender, uint256 value)');
const ERC721 = parseAbiItem(
  'event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId)',
);
const FOR_ALL = parseAbiItem(
  'event ApprovalForAll(address indexed account, address indexed operator, bool approved)',
);

const word = (value: bigint) => encodeAbiParameters([{ type: 'uint256' }], [value]);
const log = (topics: readonly unknown[], data: string) =>
  ({ topics, data }) as Parameters<typeof decodeApproval>[0];

describe('decodeApproval', () => {
  const erc20 = encodeEventTopics({ abi: [ERC20], args: { owner: ALICE, spender: BOB } });
  const erc721 = encodeEventTopics({ abi: [ERC721], args: { owner: ALICE, approved: BOB, tokenId: 7n } });
  const forAll = encodeEventTopics({ abi: [FOR_ALL], args: { account: ALICE, operator: BOB } });

  test('reads what viem encodes', () => {
    expect([
      decodeApproval(log(erc20, word(UINT256_MAX))),
      decodeApproval(log(erc721, '0x')),
      decodeApproval(log(forAll, word(1n))),
      decodeApproval(log(forAll, word(0n))),
    ]).toEqual([
      { type: 'erc20Approval', owner: ALICE, spender: BOB, value: UINT256_MAX.toString() },
      { type: 'nftApproval', owner: ALICE, approved: BOB, tokenId: '7' },
      { type: 'approvalForAll', account: ALICE, operator: BOB, approved: true },
      { type: 'approvalForAll', account: ALICE, operator: BOB, approved: false },
    ]);
  });

  test.each([
    ['a transfer', erc20Log(ALICE, BOB, 1n)],
    ['an ERC-20 approval without a value', log(erc20, '0x')],
    ['an ERC-20 approval of two words', log(erc20, `${word(1n)}${word(1n).slice(2)}`)],
    ['an ERC-721 approval with data', log(erc721, word(7n))],
    ['an approval for all with a token', log([...forAll, word(7n)], word(1n))],
    ['an approval of an owner that is no address', log([erc20[0], word(UINT256_MAX), erc20[2]], word(1n))],
  ])('reads nothing of %s', (_, other) => {
    expect(decodeApproval(other)).toBeNull();
  });
});
