import { exampleChain, listRecordedBlocks, readRecordedLogs, recordedData } from '@chainstead/testkit';
import { decodeEventLog, parseAbi } from 'viem';
import { describe, expect, test } from 'vitest';
import { erc20Approvals } from './dataset.ts';
import { accountOf, toLog } from './testing/example-approvals.ts';

const chain = exampleChain();
const context = { chain, timestampOf: () => 0 };
const example = {
  owner: accountOf(1),
  token: accountOf(2),
  spender: accountOf(3),
  value: 7n,
  blockNumber: 9,
  logIndex: 4,
};

describe('approvals', () => {
  test('are rows, also those that take one back', () => {
    const rows = erc20Approvals.decode([toLog(example), toLog({ ...example, value: 0n, logIndex: 5 })], context);
    expect(rows).toMatchObject([
      {
        owner: accountOf(1),
        token: accountOf(2),
        spender: accountOf(3),
        value: '7',
        blockNumber: 9,
        logIndex: 4,
        chainId: chain.id,
      },
      { value: '0', logIndex: 5 },
    ]);
  });

  test('of ERC-721 and of contracts that only look like tokens are none', () => {
    const log = toLog(example);
    const ofNft = { ...log, topics: [...log.topics, log.topics[1] ?? log.address], data: '0x' } as typeof log;
    expect(erc20Approvals.decode([ofNft], context)).toEqual([]);
    const excluded = { ...context, chain: exampleChain({ erc20Exclusions: [example.token] }) };
    expect(erc20Approvals.decode([log], excluded)).toEqual([]);
  });
});

const ABI = parseAbi(['event Approval(address indexed owner, address indexed spender, uint256 value)']);
const { isMissing, title } = recordedData('data/evm');

/** Decoded with viem, which refuses data that does not match the event. */
function decodeIndependently(block: string): object[] {
  return readRecordedLogs(block).flatMap((log) => {
    const [signature, ...indexed] = log.topics;
    if (signature === undefined || indexed.length !== 2 || log.data.length !== 66) return [];
    try {
      const { args } = decodeEventLog({
        abi: ABI,
        eventName: 'Approval',
        topics: [signature, ...indexed],
        data: log.data,
      });
      return [
        {
          token: log.address,
          owner: args.owner.toLowerCase(),
          spender: args.spender.toLowerCase(),
          value: args.value.toString(),
          transactionHash: log.transactionHash,
          logIndex: log.logIndex,
        },
      ];
    } catch {
      return [];
    }
  });
}

describe.skipIf(isMissing)(title('recorded blocks'), () => {
  test('have the approvals that viem decodes', () => {
    let approvals = 0;
    for (const block of listRecordedBlocks()) {
      const rows = erc20Approvals.decode(readRecordedLogs(block), context);
      approvals += rows.length;
      expect(
        rows.map(({ token, owner, spender, value, transactionHash, logIndex }) => ({
          token,
          owner,
          spender,
          value,
          transactionHash,
          logIndex,
        })),
        block,
      ).toEqual(decodeIndependently(block));
    }
    expect(approvals).toBeGreaterThan(900);
  });
});
