import { type Address, parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import type { Devnet } from '@chainstead/testkit';
import { erc20Abi, parseAbiItem } from 'viem';
import { z } from 'zod';
import { type DemoApi, readAllPages, readApi } from './demo-api.ts';

/** What an account holds of a token, as text. */
type BalanceText = string;

function balanceText(token: string, owner: string, balance: string): BalanceText {
  return `${token} of ${owner}: ${balance}`;
}

/** Balance of an account that a transfer of a token names. */
export interface TokenBalance {
  readonly token: Address;
  readonly owner: Address;
  /** Base units, above zero. */
  readonly balance: string;
}

const TRANSFER = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)');

/** Reads `balanceOf` for every pair of token and account in a transfer. Others can't be known. */
export async function readNodeBalances(devnet: Devnet): Promise<TokenBalance[]> {
  const blockNumber = await devnet.client.getBlockNumber({ cacheTime: 0 });
  const logs = await devnet.client.getLogs({
    event: TRANSFER,
    strict: true,
    fromBlock: 0n,
    toBlock: blockNumber,
  });
  const pairs = new Map<string, readonly [token: Address, owner: Address]>();
  // NFTs name the id in a fourth topic.
  for (const { address, args, topics } of logs)
    if (topics.length === 3)
      for (const owner of [args.from, args.to].map(parseAddress))
        if (owner !== ZERO_ADDRESS) pairs.set(`${address} ${owner}`, [parseAddress(address), owner]);
  const balances = [...pairs.values()].map(async ([token, owner]): Promise<TokenBalance[]> => {
    const call = {
      address: token,
      abi: erc20Abi,
      functionName: 'balanceOf',
      args: [owner],
      blockNumber,
    } as const;
    const balance = await devnet.client.readContract(call);
    return balance === 0n ? [] : [{ token, owner, balance: String(balance) }];
  });
  return (await Promise.all(balances)).flat();
}

/** Those of the wallets. */
export function expectedBalances(balances: readonly TokenBalance[], wallets: readonly Address[]): BalanceText[] {
  return balances
    .filter(({ owner }) => wallets.includes(owner))
    .map(({ token, owner, balance }) => balanceText(token, owner, balance));
}

const servedBalances = z.array(z.object({ token_address: z.string(), balance: z.string() }));

/** The same as the API serves them. @throws DemoApiError */
export async function readServedBalances(api: DemoApi, wallets: readonly Address[]): Promise<BalanceText[]> {
  const texts: BalanceText[] = [];
  for (const wallet of wallets) {
    const rows = await readApi(api, `${wallet}/erc20`, servedBalances, { exclude_spam: 'false' });
    texts.push(...rows.map(({ token_address, balance }) => balanceText(token_address, wallet, balance)));
  }
  return texts;
}

/** All balances of some tokens, for all owners. */
export function expectedOwners(balances: readonly TokenBalance[], tokens: readonly Address[]): BalanceText[] {
  return balances
    .filter(({ token }) => tokens.includes(token))
    .map(({ token, owner, balance }) => balanceText(token, owner, balance));
}

const servedOwner = z.object({ owner_address: z.string(), balance: z.string() });

/** The same as the API serves them, page by page. @throws DemoApiError */
export async function readServedOwners(api: DemoApi, tokens: readonly Address[]): Promise<BalanceText[]> {
  const texts: BalanceText[] = [];
  for (const token of tokens) {
    const rows = await readAllPages(api, `erc20/${token}/owners`, servedOwner);
    texts.push(...rows.map(({ owner_address, balance }) => balanceText(token, owner_address, balance)));
  }
  return texts;
}
