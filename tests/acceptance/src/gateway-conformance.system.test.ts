/** What ethereum/execution-apis recorded of a node comes out of the gateway in front of that node. */
import {
  type RecordedExchange,
  readExchanges,
  recordedData,
  rpcError,
  serveExchanges,
} from '@chainstead/testkit';
import { beforeAll, describe, expect, it } from 'vitest';
import { type GatewayStage, startGateway } from './gateway-stage.ts';

const CHAIN_ID = 3_503_995_874_084_926;
const HEAD = 0x36;
/** The recorded methods that the gateway offers (docs/api/json-rpc.md). */
const OFFERED = new Set([
  'eth_baseFee',
  'eth_blobBaseFee',
  'eth_blockNumber',
  'eth_call',
  'eth_capabilities',
  'eth_chainId',
  'eth_createAccessList',
  'eth_estimateGas',
  'eth_feeHistory',
  'eth_gasPrice',
  'eth_getBalance',
  'eth_getBlockByHash',
  'eth_getBlockByNumber',
  'eth_getBlockReceipts',
  'eth_getBlockTransactionCountByHash',
  'eth_getBlockTransactionCountByNumber',
  'eth_getCode',
  'eth_getLogs',
  'eth_getProof',
  'eth_getStorageAt',
  'eth_getStorageValues',
  'eth_getTransactionByHash',
  'eth_getTransactionByBlockHashAndIndex',
  'eth_getTransactionByBlockNumberAndIndex',
  'eth_getTransactionCount',
  'eth_getTransactionReceipt',
  'eth_getUncleByBlockHashAndIndex',
  'eth_getUncleByBlockNumberAndIndex',
  'eth_getUncleCountByBlockHash',
  'eth_getUncleCountByBlockNumber',
  'eth_maxPriorityFeePerGas',
  'eth_sendRawTransaction',
  'eth_syncing',
  'net_version',
  'web3_clientVersion',
]);
/** The gateway returns its own name. */
const OWN_ANSWER = new Set(['web3_clientVersion']);

const { folder, isMissing, title } = recordedData('data/rpc-conformance');

describe.skipIf(isMissing)(title('recorded exchanges'), async () => {
  const exchanges = isMissing ? [] : await readExchanges(folder);
  const offered = exchanges.filter(({ method }) => OFFERED.has(method) && !OWN_ANSWER.has(method));
  let gateway: GatewayStage;

  beforeAll(async () => {
    gateway = await gatewayOver(exchanges);
    return () => gateway.close();
  }, 60_000);

  it('are there', () => {
    expect(offered.length).toBeGreaterThan(50);
  });

  it.each(offered)(
    '$file: is answered as the node answers it',
    async ({ method, params, response: recorded }) => {
      const response = { ...recorded, id: 1 };
      expect(await gateway.call(method, params)).toEqual(response);
      // From the cache, where it is kept.
      expect(await gateway.call(method, params)).toEqual(response);
    },
  );
});

async function gatewayOver(exchanges: readonly RecordedExchange[]): Promise<GatewayStage> {
  const node = await serveExchanges(
    exchanges,
    new Map([
      ['eth_chainId', () => ({ result: `0x${CHAIN_ID.toString(16)}` })],
      ['eth_blockNumber', () => ({ result: `0x${HEAD.toString(16)}` })],
      ['web3_clientVersion', () => ({ result: 'recorded' })],
      [
        'eth_getBlockReceipts',
        () => rpcError(-32_601, 'the method eth_getBlockReceipts does not exist/is not available'),
      ],
    ]),
  );
  const gateway = await startGateway({ chainId: CHAIN_ID, upstreams: [node.url] });
  return {
    ...gateway,
    async close() {
      await gateway.close();
      await node.close();
    },
  };
}
