import { type Address, ChainsteadError } from '@chainstead/core';
import type { Devnet } from '@chainstead/testkit';
import { parseAbi, parseAbiItem } from 'viem';
import { z } from 'zod';
import { DEMO_CHAIN_NAME } from './demo-program.ts';

/** One transfer as text, the same from the API and from the node: order of fields and all. */
export type TransferText = string;

/** The API did not answer as it should. */
export class DemoApiError extends ChainsteadError {
  constructor(url: string, problem: string) {
    super({ code: 'DEMO_API', message: `GET ${url}: ${problem}`, facts: { url }, retryable: true });
  }
}

const page = z.object({
  cursor: z.string().nullable(),
  result: z.array(
    z.object({
      transaction_hash: z.string(),
      log_index: z.number(),
      block_number: z.string(),
      block_hash: z.string(),
      address: z.string(),
      from_address: z.string(),
      to_address: z.string(),
      value: z.string(),
      token_name: z.string().nullable(),
      token_symbol: z.string().nullable(),
      token_decimals: z.string().nullable(),
    }),
  ),
});

/** All transfers of a wallet as the API serves them, page by page. @throws DemoApiError */
export async function readServedTransfers(api: string, wallet: Address): Promise<TransferText[]> {
  const transfers: TransferText[] = [];
  let cursor: string | null = null;
  do {
    const query = new URLSearchParams({ chain: DEMO_CHAIN_NAME, limit: '25', ...(cursor === null ? {} : { cursor }) });
    const url = `${api}/api/v2.2/${wallet}/erc20/transfers?${query}`;
    const response = await fetch(url);
    const body: unknown = await response.json();
    if (!response.ok) throw new DemoApiError(url, `${response.status} ${JSON.stringify(body)}`);
    const { result, cursor: next } = page.parse(body);
    transfers.push(
      ...result.map((row) =>
        transferText({
          hash: row.transaction_hash,
          logIndex: row.log_index,
          blockNumber: row.block_number,
          blockHash: row.block_hash,
          token: row.address,
          from: row.from_address,
          to: row.to_address,
          value: row.value,
          facts: `${row.token_name}/${row.token_symbol}/${row.token_decimals}`,
        }),
      ),
    );
    cursor = next;
  } while (cursor !== null);
  return transfers.toSorted();
}

const TRANSFER = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)');
const TOKEN_FACTS = parseAbi([
  'function name() view returns (string)',
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
]);

/** All ERC-20 transfers by wallet as the node has them now, decoded by viem and by nothing of ours. */
export async function readNodeTransfers(
  devnet: Devnet,
  wallets: readonly Address[],
): Promise<ReadonlyMap<Address, readonly TransferText[]>> {
  const logs = await devnet.client.getLogs({ event: TRANSFER, strict: true, fromBlock: 0n, toBlock: 'latest' });
  const transfers = logs.filter(({ topics }) => topics.length === 3);
  const facts = new Map<string, string>();
  for (const address of new Set(transfers.map((log) => log.address))) {
    const read = (functionName: 'name' | 'symbol' | 'decimals') =>
      devnet.client.readContract({ address, abi: TOKEN_FACTS, functionName });
    facts.set(address, `${await read('name')}/${await read('symbol')}/${await read('decimals')}`);
  }
  const texts = transfers.map((log) => ({
    parties: [log.args.from.toLowerCase(), log.args.to.toLowerCase()],
    text: transferText({
      hash: log.transactionHash,
      logIndex: log.logIndex,
      blockNumber: log.blockNumber.toString(),
      blockHash: log.blockHash,
      token: log.address,
      from: log.args.from,
      to: log.args.to,
      value: log.args.value.toString(),
      facts: facts.get(log.address) ?? '',
    }),
  }));
  return new Map(
    wallets.map((wallet) => [
      wallet,
      texts
        .filter(({ parties }) => parties.includes(wallet))
        .map(({ text }) => text)
        .toSorted(),
    ]),
  );
}

interface TransferFields {
  readonly hash: string;
  readonly logIndex: number;
  readonly blockNumber: string;
  readonly blockHash: string;
  readonly token: string;
  readonly from: string;
  readonly to: string;
  readonly value: string;
  readonly facts: string;
}

function transferText(fields: TransferFields): TransferText {
  const { hash, logIndex, blockNumber, blockHash, token, from, to, value, facts } = fields;
  const parts = [blockNumber.padStart(10, '0'), logIndex, hash, blockHash, token, from, to].join(' ').toLowerCase();
  return `${parts} ${value} ${facts}`;
}
