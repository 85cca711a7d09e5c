import { type Address, parseAddress } from '@chainstead/core';
import {
  createScriptedChain,
  type RpcHandler,
  type RpcReply,
  rpcError,
  serveScriptedChain,
} from '@chainstead/testkit';
import { holdingOf, NOBODY, SILENT, type TokenBlock, type TokenChain } from './token-chain.ts';

/** A node of a {@link TokenChain} with scripted lies and failures. */
export interface TokenNode {
  readonly url: string;
  /** Number of eth_calls received. */
  calls: number;
  /** Has no blocks. */
  isDown: boolean;
  /** Has only the state of its newest block. */
  isPruned: boolean;
  /** Native balance of each account. Wei. */
  coins: bigint;
  /** Returned balances in place of the correct ones, by token. */
  readonly lies: Map<Address, bigint>;
  /** Balances whose calls revert, by {@link holdingOf}. */
  readonly refused: Set<string>;
  /** Tokens with a destroyed contract. */
  readonly destroyed: Set<Address>;
  /** Results of calls to a token in place of a balance. */
  readonly odd: Map<Address, () => Promise<RpcReply>>;
  /** Called before each response. */
  before: () => Promise<void>;
  close(): Promise<void>;
}

export async function serveTokenChain(chain: TokenChain, chainId: number): Promise<TokenNode> {
  const scripted = createScriptedChain({ seed: 1, chainId });
  // The pool uses its height.
  scripted.mine(200);
  const methods = new Map<string, RpcHandler>([
    [
      'eth_call',
      async (params: readonly unknown[]): Promise<RpcReply> => {
        node.calls++;
        await node.before();
        return answer(chain, node, params);
      },
    ],
    [
      'eth_getCode',
      async ([address]: readonly unknown[]): Promise<RpcReply> => ({
        result: node.destroyed.has(parseAddress(String(address))) ? '0x' : '0x6001',
      }),
    ],
    [
      'eth_getBalance',
      async (): Promise<RpcReply> =>
        node.isDown ? rpcError(-32_000, 'header not found') : { result: `0x${node.coins.toString(16)}` },
    ],
  ]);
  const served = await serveScriptedChain(scripted, { methods: () => methods });
  const node: TokenNode = {
    url: served.url,
    calls: 0,
    isDown: false,
    isPruned: false,
    coins: 0n,
    lies: new Map(),
    refused: new Set(),
    destroyed: new Set(),
    odd: new Map(),
    before: async () => {},
    close: () => served.close(),
  };
  return node;
}

async function answer(chain: TokenChain, node: TokenNode, [call, at]: readonly unknown[]): Promise<RpcReply> {
  const block = blockOf(chain, at);
  if (node.isDown || block === undefined) return rpcError(-32_000, 'header not found');
  if (node.isPruned && block.number < chain.head.number) return rpcError(-32_000, 'missing trie node');
  const { to, data } = call as { readonly to: string; readonly data: string };
  if (data === '0x') return { result: '0x' };
  const [token, wallet] = [parseAddress(to), parseAddress(`0x${data.slice(-40)}`)];
  const odd = node.odd.get(token);
  if (odd !== undefined) return odd();
  if (token === SILENT || node.refused.has(holdingOf(token, wallet)))
    return rpcError(3, 'execution reverted', '0x');
  if (token === NOBODY || node.destroyed.has(token)) return { result: '0x' };
  const balance = node.lies.get(token) ?? block.balances.get(`${token} ${wallet}`) ?? 0n;
  return { result: `0x${balance.toString(16).padStart(64, '0')}` };
}

/** By hash (EIP-1898) or number. */
function blockOf(chain: TokenChain, at: unknown): TokenBlock | undefined {
  if (typeof at === 'object' && at !== null && 'blockHash' in at) return chain.byHash(String(at.blockHash));
  return typeof at === 'string' ? chain.block(Number(at)) : undefined;
}
