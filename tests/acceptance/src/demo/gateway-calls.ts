import { type Devnet, requestNode } from '@chainstead/testkit';
import { DEMO_CHAIN_NAME } from 'chainstead/src/demo/demo-chain.ts';
import type { DemoApi } from './demo-api.ts';

/** A call as JSON text. */
type CallText = string;

/** URL of the demo's chain in the JSON-RPC gateway. Without a configured key, any text is accepted as key. */
export function gatewayUrl({ address, key = 'any-key' }: DemoApi): string {
  return `${address}/${DEMO_CHAIN_NAME}/${key}`;
}

/** Questions about every block of the chain as it is now, about its head, and about what does not exist. */
export async function gatewayCalls({ client }: Devnet): Promise<CallText[]> {
  const head = Number(await client.getBlockNumber({ cacheTime: 0 }));
  const ofBlocks = Array.from({ length: head + 1 }, (_, number) => `0x${number.toString(16)}`).flatMap(
    (block) => [
      callText('eth_getBlockByNumber', [block, true]),
      callText('eth_getBlockReceipts', [block]),
      callText('eth_getTransactionByBlockNumberAndIndex', [block, '0x0']),
    ],
  );
  return [
    ...ofBlocks,
    callText('eth_blockNumber', []),
    callText('eth_getBlockByNumber', ['latest', false]),
    callText('eth_getTransactionReceipt', [`0x${'00'.repeat(32)}`]),
  ];
}

/** The responses to them as texts, from a node or from the gateway. */
export async function readCalls(url: string, calls: readonly CallText[]): Promise<string[]> {
  const answers: string[] = [];
  for (const call of calls) {
    const { method, params } = JSON.parse(call) as { method: string; params: unknown[] };
    answers.push(`${call}: ${JSON.stringify(await requestNode(url, method, params))}`);
  }
  return answers;
}

function callText(method: string, params: readonly unknown[]): CallText {
  return JSON.stringify({ method, params });
}
