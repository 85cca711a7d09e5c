import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Hex } from '@chainstead/core';
import { listRecordedBlocks, readRecordedLogs, recordedData } from '@chainstead/testkit';
import { decodeEventLog, decodeFunctionData } from 'viem';
import { describe, expect, test } from 'vitest';
import { decodeCall, decodeEvent } from '../decode-event.ts';
import type { DecodedArgument } from '../decoded.ts';
import { STANDARDS } from './standards.ts';

// As shown by explorers.
const SELECTORS: Readonly<Record<string, string>> = {
  '0xa9059cbb': 'transfer(address,uint256)',
  '0x095ea7b3': 'approve(address,uint256)',
  '0x23b872dd': 'transferFrom(address,address,uint256)',
  '0x42842e0e': 'safeTransferFrom(address,address,uint256)',
  '0xb88d4fde': 'safeTransferFrom(address,address,uint256,bytes)',
  '0xa22cb465': 'setApprovalForAll(address,bool)',
  '0xf242432a': 'safeTransferFrom(address,address,uint256,uint256,bytes)',
  '0x2eb2c2d6': 'safeBatchTransferFrom(address,address,uint256[],uint256[],bytes)',
  '0xd505accf': 'permit(address,address,uint256,uint256,uint8,bytes32,bytes32)',
  '0xd0e30db0': 'deposit()',
  '0x2e1a7d4d': 'withdraw(uint256)',
  '0x38ed1739': 'swapExactTokensForTokens(uint256,uint256,address[],address,uint256)',
  '0x7ff36ab5': 'swapExactETHForTokens(uint256,address[],address,uint256)',
  '0x18cbafe5': 'swapExactTokensForETH(uint256,uint256,address[],address,uint256)',
  '0xe8e33700': 'addLiquidity(address,address,uint256,uint256,uint256,uint256,address,uint256)',
  '0xf305d719': 'addLiquidityETH(address,uint256,uint256,uint256,address,uint256)',
  '0xac9650d8': 'multicall(bytes[])',
  '0x5ae401dc': 'multicall(uint256,bytes[])',
  '0x3593564c': 'execute(bytes,bytes[],uint256)',
  '0x414bf389': 'exactInputSingle((address,address,uint24,address,uint256,uint256,uint256,uint160))',
  '0x04e45aaf': 'exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))',
  '0x87517c45': 'approve(address,address,uint160,uint48)',
  '0x6a761202': 'execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)',
  '0x82ad56cb': 'aggregate3((address,bool,bytes)[])',
  '0x617ba037': 'supply(address,uint256,address,uint16)',
  '0x69328dec': 'withdraw(address,uint256,address)',
  '0xa694fc3a': 'stake(uint256)',
  '0x4e71d92d': 'claim()',
  '0x88316456': 'mint((address,address,uint24,int24,int24,uint256,uint256,uint256,uint256,address,uint256))',
};

test.each(Object.entries(SELECTORS))('%s is %s', (selector, signature) => {
  expect(STANDARDS.functionsOf(selector as Hex).map((entry) => entry.signature)).toEqual([signature]);
});

test.each([
  ['0xfb0f3ee1', 'fulfillBasicOrder'],
  ['0x00000000', 'fulfillBasicOrder_efficient_6GL6yc'],
  ['0xe7acab24', 'fulfillAdvancedOrder'],
  ['0x87201b41', 'fulfillAvailableAdvancedOrders'],
  ['0xf2d12b12', 'matchAdvancedOrders'],
  ['0xfd9f1e10', 'cancel'],
  ['0x1fad948c', 'handleOps'],
  ['0x765e827f', 'handleOps'],
  ['0x2b67b570', 'permit'],
])('%s is %s, whose arguments are tuples', (selector, name) => {
  expect(STANDARDS.functionsOf(selector as Hex).map((entry) => entry.name)).toEqual([name]);
});

const TOPICS: Readonly<Record<string, string>> = {
  '0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c': 'Deposit(address,uint256)',
  '0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65': 'Withdrawal(address,uint256)',
  '0xdcbc1c05240f31ff3ad067ef1ee35ce4997762752e3a095284754544f4c709d7':
    'Deposit(address,address,uint256,uint256)',
  '0xfbde797d201c681b91056529119e0b02407c7bb96a4a2c75c01fc9667232c8db':
    'Withdraw(address,address,address,uint256,uint256)',
  '0xde6857219544bb5b7746f48ed30be6386fefc61b2f864cacf559893bf50fd951':
    'Deposit(address,address,address,uint256,uint16)',
  '0x2b627736bca15cd5381dcf80b0bf11fd197d01a037c52b927a881a10fb73ba61':
    'Supply(address,address,address,uint256,uint16)',
  '0xb3d084820fb1a9decffb176436bd02558d15fac9b0ddfed8c465bc7359d7dce0':
    'Borrow(address,address,address,uint256,uint8,uint256,uint16)',
  '0xedf8870433c83823eb071d3df1caa8d008f12f6440918c20d75a3602cda30fe0':
    'Supply(bytes32,address,address,uint256,uint256)',
  '0x570954540bed6b1304a87dfe815a5eda4a648f7097a16240dcd85c9b5fd42a43':
    'Borrow(bytes32,address,address,address,uint256,uint256)',
  '0x96a25c8ce0baabc1fdefd93e9ed25d8e092a3332f3aa9a41722b5697231d1d1a': 'Submitted(address,uint256,address)',
  '0x649bbc62d0e31342afea4e5cd82d4049e7e1ee912fc0889aa790803be39038c5':
    'DepositEvent(bytes,bytes,bytes,bytes,bytes)',
  '0x3067048beee31b25b2f1681f88dac838c8bba36af25bfb2b7cf7473a5847e35f':
    'IncreaseLiquidity(uint256,uint128,uint256,uint256)',
  '0xc6a377bfc4eb120024a8ac08eef205be16b817020812c73223e81d1bdb9708ec':
    'Permit(address,address,address,uint160,uint48,uint48)',
};

test.each(Object.entries(TOPICS))('%s is %s', (topic0, signature) => {
  expect(
    STANDARDS.eventsOf(topic0 as `0x${string}` & Parameters<typeof STANDARDS.eventsOf>[0]).map(
      (entry) => entry.signature,
    ),
  ).toContain(signature);
});

const { folder, isMissing, title } = recordedData('data/evm');

describe.skipIf(isMissing)(title('recorded blocks'), () => {
  test('logs are told as another decoder tells them', () => {
    let reported = 0;
    let all = 0;
    for (const block of listRecordedBlocks())
      for (const { topics, data } of readRecordedLogs(block)) {
        all += 1;
        const decoded = decodeEvent({ topics, data }, [STANDARDS]);
        if (decoded === null) continue;
        reported += 1;
        const [topic0 = '0x', ...indexed] = topics;
        const [entry] = STANDARDS.eventsOf(topics[0] ?? ('0x' as never)).filter(
          ({ inputs }) => inputs.filter(({ isIndexed }) => isIndexed).length === indexed.length,
        );
        const inputs =
          entry?.inputs.map(({ isIndexed, ...type }, index) => ({
            ...type,
            name: `a${index}`,
            indexed: isIndexed,
          })) ?? [];
        const abi = [{ type: 'event', name: decoded.label, inputs } as const];
        const { args } = decodeEventLog({ abi, topics: [topic0, ...indexed], data, strict: true });
        const inOrderOf = decoded.params.map(
          (_, index) => Object.entries(args ?? {}).find(([name]) => name === `a${index}`)?.[1],
        );
        expect(decoded.params.map(textOf)).toEqual(inOrderOf.map(plain));
      }
    // Three quarters of all logs are of well-known events.
    expect(reported / all).toBeGreaterThan(0.7);
  });

  test('calls are told as another decoder tells them', () => {
    let reported = 0;
    for (const block of listRecordedBlocks().filter((path) => !path.startsWith('partial/'))) {
      const { transactions }: { transactions: readonly { input?: Hex }[] } = JSON.parse(
        readFileSync(join(folder, block, 'block.json'), 'utf8'),
      );
      for (const { input } of transactions) {
        // For some blocks only hashes were recorded.
        if (input === undefined) continue;
        const decoded = decodeCall(input, [STANDARDS]);
        if (decoded === null) continue;
        reported += 1;
        const [entry] = STANDARDS.functionsOf(input.slice(0, 10) as Hex);
        const abi = [
          {
            type: 'function',
            name: decoded.label,
            inputs: entry?.layout ?? [],
            outputs: [],
            stateMutability: 'payable',
          } as const,
        ];
        const { args } = decodeFunctionData({ abi, data: input });
        expect(decoded.params.map(textOf)).toEqual((args ?? []).map(plain));
      }
    }
    expect(reported).toBeGreaterThan(1_000);
  });
});

function textOf({ type, value, components }: DecodedArgument): unknown {
  if (components !== undefined) return components.map(textOf);
  return type.endsWith(']') ? inOrder(JSON.parse(value)) : value;
}

const inOrder = (json: unknown): unknown =>
  typeof json === 'string' ? json : Object.values(json ?? {}).map(inOrder);

function plain(value: unknown): unknown {
  if (typeof value === 'object' && value !== null) return Object.values(value).map(plain);
  return String(value);
}
