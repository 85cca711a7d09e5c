import type { Address } from '@chainstead/core';
import type { Devnet } from '@chainstead/testkit';
import { parseAbi, parseAbiItem } from 'viem';
import { z } from 'zod';
import { type DemoApi, readAllPages } from './demo-api.ts';

/** One transfer of a wallet as text, the same from the API and from the node: order of fields and all. */
type TransferText = string;

const row = z.object({
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
});

/** All transfers of the wallets as the API serves them, page by page; those between two of them twice. @throws DemoApiError */
export async function readServedTransfers(api: DemoApi, wallets: readonly Address[]): Promise<TransferText[]> {
  const transfers: TransferText[] = [];
  for (const wallet of wallets) {
    const rows = await readAllPages(api, `${wallet}/erc20/transfers`, row);
    transfers.push(
      ...rows.map((one) =>
        transferText(wallet, {
          hash: one.transaction_hash,
          logIndex: one.log_index,
          blockNumber: one.block_number,
          blockHash: one.block_hash,
          token: one.address,
          from: one.from_address,
          to: one.to_address,
          value: one.value,
          facts: `${one.token_name}/${one.token_symbol}/${one.token_decimals}`,
        }),
      ),
    );
  }
  return transfers;
}

const TRANSFER = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)');
const TOKEN_FACTS = parseAbi([
  'function name() view returns (string)',
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
]);

/** All ERC-20 transfers of the wallets as the node has them now, decoded by viem and by nothing of ours. */
export async function readNodeTransfers(devnet: Devnet, wallets: readonly Address[]): Promise<TransferText[]> {
  const logs = await devnet.client.getLogs({ event: TRANSFER, strict: true, fromBlock: 0n, toBlock: 'latest' });
  const transfers = logs.filter(({ topics }) => topics.length === 3);
  const facts = new Map<string, string>();
  for (const address of new Set(transfers.map((log) => log.address))) {
    const read = (functionName: 'name' | 'symbol' | 'decimals') =>
      devnet.client.readContract({ address, abi: TOKEN_FACTS, functionName });
    facts.set(address, `${await read('name')}/${await read('symbol')}/${await read('decimals')}`);
  }
  return transfers.flatMap((log) => {
    const fields: TransferFields = {
      hash: log.transactionHash,
      logIndex: log.logIndex,
      blockNumber: log.blockNumber.toString(),
      blockHash: log.blockHash,
      token: log.address,
      from: log.args.from,
      to: log.args.to,
      value: log.args.value.toString(),
      facts: facts.get(log.address) ?? '',
    };
    const parties = [log.args.from.toLowerCase(), log.args.to.toLowerCase()];
    return wallets.filter((wallet) => parties.includes(wallet)).map((wallet) => transferText(wallet, fields));
  });
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

function transferText(wallet: Address, fields: TransferFields): TransferText {
  const { hash, logIndex, blockNumber, blockHash, token, from, to, value, facts } = fields;
  const place = [blockNumber.padStart(10, '0'), logIndex, hash, blockHash, token, from, to]
    .join(' ')
    .toLowerCase();
  return `${wallet}: ${place} ${value} ${facts}`;
}
